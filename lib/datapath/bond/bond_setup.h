// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What both datapaths over the kernel's bonding driver use.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

/// How often bonding checks links. Until it has noticed that a link is back, the port is not used. A lost
/// link needs no check in balance-rr: bonding reads the carrier for each packet (bond_slave_is_up).
inline constexpr std::chrono::milliseconds bond_miimon{20};

/// EEXIST: the bond has another mode, or is of another program and has too few transmit queues for slots.
Result<> check_bond_mode(const Links& links, IfIndex bond, BondMode mode);

/// Gives a bond that was taken over from another program our options, and then the mark. Does nothing if it
/// has the mark.
Result<> claim_bond(LinkControl& links, IfIndex bond, BondMode mode);

} // namespace teamo
