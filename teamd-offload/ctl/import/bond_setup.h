// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond as another program has configured it, whatever kind of file it was read from.
#pragma once

#include "base/result.h"
#include "kernel/netlink/bond_options.h"

#include <functional>
#include <map>
#include <span>
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
    std::vector<std::string> remarks{}; ///< what could not be read

    /// The port of that name, which is added if it is missing.
    BondPortSetup& port(std::string_view name);
};

/// The words of an option with several, separated by blanks, commas or semicolons.
std::vector<std::string> list_of(std::string text);

/// A file that was read, with its name for messages.
struct FileText {
    std::string file, text;
};

// Text and value, pure. ENOENT: the text has no bond; EINVAL: a time that is none.

/// systemd.netdev(5), with the .network files of its folder.
Result<BondSetup> bond_of_networkd(std::string_view text, std::span<const FileText> networks);
/// The keyfile of a connection, with the others of its folder.
Result<BondSetup> bond_of_network_manager(std::string_view text, std::span<const FileText> connections);
/// An ifcfg file, with the others of its folder.
Result<BondSetup> bond_of_ifcfg(std::string_view text, std::span<const FileText> others);
/// interfaces(5): "iface bond0 inet static" and its options, with "-" or "_" in their names.
std::vector<BondSetup> bonds_of_ifupdown(std::string text);
/// netplan(5). EINVAL: no YAML, or a time that is none.
Result<std::vector<BondSetup>> bonds_of_netplan(const std::string& text);

// The files.

/// `source`: a device, or a file of ifupdown, ifcfg, systemd-networkd, netplan or NetworkManager, whose ports
/// may be in other files of its folder. `bond`: its name, if the file has several; else empty.
/// ENOENT: no such bond.
Result<BondSetup> read_bond(const std::string& source, std::string_view bond);

} // namespace teamo::ctl
