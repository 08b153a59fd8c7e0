// SPDX-License-Identifier: LGPL-2.1-or-later
//
// irqbalance(1) has one list of banned interrupts, and each request replaces the whole list (irqbalance.c:
// sock_handle, "settings ban irqs"). It has the bans of the administrator (--banirq), of every team and of
// other programs, so we read it, change our part and write it back.
#pragma once

#include "kernel/interrupts/irqbalance.h"

#include <sys/types.h>

#include <map>

namespace teamo {

/// The bans that the teams of this machine have requested from one irqbalance. Kept in a file that they
/// share.
struct BansAsked {
    pid_t pid = 0;                           ///< of that irqbalance; a new one starts without our bans
    BannedIrqs found;                        ///< in its list before the first team wrote to it
    std::map<std::string, BannedIrqs> teams; ///< the bans of each team
    bool operator==(const BansAsked&) const = default;
};
std::string text_of(const BansAsked& asked);
Result<BansAsked> parse_bans_asked(std::string_view text);

/// The list to write: the current one with `wanted`, without earlier bans of this team that it no longer
/// wants, unless another team wants them or they were there before us.
BannedIrqs bans_wanted(const BannedIrqs& current, const BansAsked& asked, const std::string& team,
                       const BannedIrqs& wanted);

} // namespace teamo
