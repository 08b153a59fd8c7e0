// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/lacp.h"

struct nlmsghdr;

namespace teamo {

/// What bonding tells of its LACP and of each slave, with the counters of frames. Without CAP_NET_ADMIN the
/// kernel leaves systems, keys and the partner out.
Result<lacp::BondSystem> read_bond_lacp(IfIndex bond);

/// How many slaves bonding wants before the bond has a carrier (min_links).
Result<std::uint32_t> read_min_links(IfIndex bond);

// Messages of the kernel, pure.

/// Adds what a message about the bond or a slave of it has (RTM_NEWLINK).
void add_bond_lacp(const nlmsghdr* message, IfIndex bond, lacp::BondSystem& system);
/// The counters of a slave (RTM_NEWSTATS).
std::optional<lacp::FrameCounters> parse_bond_frames(const nlmsghdr* message);

} // namespace teamo
