// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a team sends, and what its ports can send; pure.
#pragma once

#include "ctl/report/state.h"

#include <chrono>
#include <map>

namespace teamo::ctl {

/// Sent bytes per second by port.
using Rates = std::map<std::string, double, std::less<>>;

/// From two states, `between` apart. A port that is only in one of them is left out.
Rates rates_between(const TeamState& earlier, const TeamState& later, std::chrono::duration<double> between);

/// What the whole team sends. With the broadcast runner every port sends the same: it counts once.
double team_load(const TeamState& state, const Rates& rates);

/// What ports can send for the team, by their speeds.
struct Capacity {
    std::size_t ports = 0;
    double bytes = 0;                 ///< per second, of those whose speed is known
    std::vector<std::string> unknown; ///< ports without a speed
    bool operator==(const Capacity&) const = default;
};

/// The capacity of carriers() except `without`. activebackup and broadcast: the slowest port. roundrobin: the
/// slowest port times their number. Other runners: the sum.
Capacity capacity_without(const TeamState& state, std::string_view without);

} // namespace teamo::ctl
