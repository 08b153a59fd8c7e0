// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The protocol of irqbalance(1)'s socket (irqbalance.c: sock_handle): the answer to "setup", and the request
// that replaces the list of banned interrupts.
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
    unsigned seconds = 0; ///< its interval
    BannedIrqs banned;    ///< by command line and socket; without those of a policy script
    bool operator==(const IrqBalanceSetup&) const = default;
};

/// "SLEEP 10 IRQ 43 LOAD 0 DIFF 0 CLASS 0 IRQ 44 … BANNED 000000c0". EACCES: an empty answer, as all users
/// but root get; EBADMSG: any other answer.
Result<IrqBalanceSetup> parse_irqbalance_setup(std::string_view reply);

/// The request that sets the list to `bans`. irqbalance before 1.9.5 reads only the first 500 bytes: so no
/// number crosses byte 500, and the bans of others come first. EMSGSIZE: the bans of others alone do not fit.
Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours);

} // namespace teamo
