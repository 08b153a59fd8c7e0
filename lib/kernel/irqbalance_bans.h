// SPDX-License-Identifier: LGPL-2.1-or-later
//
// irqbalance(1) has one list of interrupts that it leaves alone, and a request replaces the whole of it
// (irqbalance.c: sock_handle, "settings ban irqs"). The administrator's are in it (--banirq), those of every
// team, and whoever else asked: so what is written is made of what was read.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace teamo {

using BannedIrqs = std::set<unsigned>;

/// What irqbalance answers to "setup".
struct IrqBalanceSetup {
    unsigned seconds = 0;    ///< between two looks of it
    BannedIrqs banned;       ///< by its command line and its socket; a policy script's are not told
    std::string banned_cpus; ///< as a mask, "000000c0"
    bool operator==(const IrqBalanceSetup&) const = default;
};

/// "SLEEP 10 IRQ 43 LOAD 0 DIFF 0 CLASS 0 IRQ 44 … BANNED 000000c0". EACCES: it said nothing, as to all who
/// are not root; EBADMSG: it said something else.
Result<IrqBalanceSetup> parse_irqbalance_setup(std::string_view reply);

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

/// The request that makes the list so. Up to irqbalance 1.9.4 the first 500 bytes are read and no more, so
/// none of the numbers lies across that border, and those that are not ours come first. EMSGSIZE: they alone
/// are too many for that, and some of them would be lost.
Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours);

} // namespace teamo
