// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words of irqbalance(1)'s socket (irqbalance.c: sock_handle): its answer to "setup", and the request
// that replaces its list of interrupts to leave alone.
#pragma once

#include "base/result.h"

#include <set>
#include <string>
#include <string_view>

namespace teamo {

inline constexpr unsigned most_irqs = 1U << 24; ///< more than any kernel has
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

/// The request that makes the list so. Up to irqbalance 1.9.4 the first 500 bytes are read and no more, so
/// none of the numbers lies across that border, and those that are not ours come first. EMSGSIZE: they alone
/// are too many for that, and some of them would be lost.
Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours);

} // namespace teamo
