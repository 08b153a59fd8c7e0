// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a team sends, and what its ports could; pure.
#pragma once

#include "ctl/report/state.h"

#include <chrono>
#include <map>

namespace teamo::ctl {

/// Bytes per second by port, sent.
using Rates = std::map<std::string, double, std::less<>>;

/// From two states, `between` apart. A port that is only in one of them is left out.
Rates rates_between(const TeamState& earlier, const TeamState& later, std::chrono::duration<double> between);

/// What the whole team sends; of a broadcast, which every port sends, once.
double team_load(const TeamState& state, const Rates& rates);

/// What some of the ports can send for the team, by their speeds.
struct Capacity {
    std::size_t ports = 0;
    double bytes = 0;                 ///< per second, of those whose speed is known
    std::vector<std::string> unknown; ///< ports without a speed
    bool operator==(const Capacity&) const = default;
};

/// Of those that carry, or may (activebackup), but for `without`. Active-backup sends by one of them, the
/// slowest for all that is known; round-robin gives every port as much as the slowest takes; a broadcast is
/// as fast as the slowest.
Capacity capacity_without(const TeamState& state, std::string_view without);

} // namespace teamo::ctl
