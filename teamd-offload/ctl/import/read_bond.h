// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond as the kernel has it.
#pragma once

#include "base/result.h"
#include "kernel/netlink/bond_options.h"
#include "model/attached.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::ctl {

struct BondPortSetup {
    std::string name;
    BondOptions options{}; ///< prio, queue_id
};

struct BondSetup {
    std::string device;
    BondOptions options{};
    std::vector<BondPortSetup> ports{};
    std::string address{}; ///< MAC address, if somebody chose it
    /// The VLANs of the bond, outermost first, by which the kernel reaches the targets of its probes; without
    /// an entry that is not known.
    std::map<std::string, std::vector<std::uint16_t>, std::less<>> target_vlans{};

    /// The port of that name, which is added if it is missing.
    BondPortSetup& port(std::string_view name);
};

/// The words of an option with several, separated by blanks, commas or semicolons.
std::vector<std::string> list_of(std::string text);

/// A daemon that steers a bond has replaced the xmit_hash_policy: its owner's comes back.
void use_own_policy(BondSetup& bond, const AttachedStatus& attached);

/// A bond of this network namespace; EINVAL: the device is none.
Result<BondSetup> read_bond(const std::string& device);

} // namespace teamo::ctl
