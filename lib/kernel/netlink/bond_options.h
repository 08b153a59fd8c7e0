// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <linux/if_link.h>

#include <array>
#include <functional>
#include <map>
#include <string>

struct nlattr;
struct nlmsghdr;

namespace teamo {

/// By their name in bonding (Documentation/networking/bonding.rst), times in its units.
using BondOptions = std::map<std::string, std::string, std::less<>>;

struct BondAttribute {
    int type; ///< IFLA_BOND_*, IFLA_BOND_SLAVE_* (include/uapi/linux/if_link.h)
    const char* option;
};
/// What a slave has beside its queue_id.
inline constexpr auto bond_slave_options = std::to_array<BondAttribute>({
    {IFLA_BOND_SLAVE_PRIO, "prio"},
    {10 /* IFLA_BOND_SLAVE_ACTOR_PORT_PRIO, Linux 6.18 */, "actor_port_prio"},
});

/// Options of a bond or of one of its slaves that /sys does not show (newer than Linux 5.15), by their name
/// in bonding. Empty for other devices, and for what this kernel does not have.
Result<BondOptions> read_bond_options(IfIndex device);

/// The attributes of a bond (IFLA_BOND_*), or of a slave of one (IFLA_BOND_SLAVE_*), in its IFLA_LINKINFO.
/// nullptr: it is another device. Pure.
const nlattr* bond_attributes_in(const nlattr* info);
const nlattr* bond_slave_attributes_in(const nlattr* info);

/// Adds what a message about a bond or a slave has (RTM_NEWLINK). Pure.
void add_bond_options(const nlmsghdr* message, BondOptions& options);

} // namespace teamo
