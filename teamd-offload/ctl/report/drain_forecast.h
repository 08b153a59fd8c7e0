// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where the traffic of a port goes when it is drained (port drain --dry-run); pure.
#pragma once

#include "ctl/report/state.h"

namespace teamo::ctl {

/// A port that goes on to carry; bytes per second.
struct DrainShare {
    std::string port;
    double now = 0, then = 0;
    double capacity = 0; ///< 0: not known
    bool operator==(const DrainShare&) const = default;
};

struct DrainForecast {
    std::string port;
    double load = 0;        ///< bytes per second that leave by it now
    bool by_bucket = false; ///< each share is what the loads of buckets make of it; else it is the worst case
    std::vector<DrainShare> others;
    std::vector<std::string> overloaded;
    std::size_t able = 0;      ///< other ports that can carry, and are not drained
    std::size_t min_ports = 1; ///< with fewer the team has no carrier
    bool operator==(const DrainForecast&) const = default;
};

/// `rates`: what the ports have sent in the last second. `forced`: the port is not to carry even if no other
/// port can; then ports that are drained, but not so, carry again.
DrainForecast drain_forecast_of(const TeamState& state, const PortStatus& port, const Rates& rates,
                                bool forced);

/// Why the port should not be drained; none: nothing speaks against it.
std::optional<std::string> objection_of(const DrainForecast& forecast);
std::string text_of(const DrainForecast& forecast);
json::Value json_of(const std::string& team, const DrainForecast& forecast);

} // namespace teamo::ctl
