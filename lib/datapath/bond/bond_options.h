// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What both datapaths over the kernel's bonding driver use.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

inline const std::string bond_kind = "bond";

/// How often bonding checks links. Until it has noticed that a link is back, the port is not used. A lost
/// link needs no check in balance-rr: bonding reads the carrier for each packet (bond_slave_is_up).
inline constexpr std::chrono::milliseconds bond_miimon{20};

/// EEXIST: the bond has another mode.
inline Result<> check_bond_mode(const Links& links, IfIndex bond, BondMode mode) {
    const auto* link = find_link(links, bond);
    if (link == nullptr || link->bond_mode == mode) return {};
    return fail(EEXIST,
                fmt::format("bond {} exists and its mode is not {}, which the team needs; start with -r "
                            "to replace it",
                            link->name, mode == bond_mode_xor ? "balance-xor" : "balance-rr"));
}

} // namespace teamo
