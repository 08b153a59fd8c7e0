// SPDX-License-Identifier: LGPL-2.1-or-later
//
// irqbalance(1) has one list of interrupts that it leaves alone, and a request replaces the whole of it
// (irqbalance.c: sock_handle, "settings ban irqs"). The administrator's are in it (--banirq), those of every
// team, and whoever else asked: so what is written is made of what was read.
#pragma once

#include "kernel/interrupts/irqbalance_protocol.h"

#include <sys/types.h>

#include <map>

namespace teamo {

/// What the teams of this machine have asked of one irqbalance, kept in a file that they share.
struct BansAsked {
    pid_t pid = 0;                           ///< of that irqbalance; another one has forgotten all
    BannedIrqs found;                        ///< in its list before the first of us wrote to it
    std::map<std::string, BannedIrqs> teams; ///< what each wants left alone
    bool operator==(const BansAsked&) const = default;
};
std::string text_of(const BansAsked& asked);
Result<BansAsked> parse_bans_asked(std::string_view text);

/// The list as it should be: as it is, without what only this team asked for and no longer wants, and with
/// what it wants. What was there before us stays.
BannedIrqs bans_wanted(const BannedIrqs& current, const BansAsked& asked, const std::string& team,
                       const BannedIrqs& wanted);

} // namespace teamo
