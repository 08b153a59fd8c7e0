// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/stage.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace teamo::demo {

/// What eight clients got at once, and what it cost. All but iperf3's figure is of one and the same stretch
/// of time, in which all of them were at full speed.
struct Transfer {
    double megabits = 0;        ///< a second, of TCP payload, as it reached the clients' devices
    double iperf3_megabits = 0; ///< the sum of what each iperf3 says of its own time
    double bytes_per_skb = 0;   ///< transmitted, by the ports' own counters
    double cpu_per_kb = 0;      ///< microseconds of busy CPU, of the whole machine, per 1,024 bytes
};
/// Eight iperf3 at once, for so long.
Transfer transfer(const Stage& stage, std::chrono::seconds length);

/// One cable pulled under traffic and put back.
struct Pull {
    unsigned port = 0, taken_over_by = 0;
    std::uint64_t lost = 0;         ///< packets, by the pull
    std::uint64_t lost_by_plug = 0; ///< packets, by putting it back
};
inline constexpr unsigned pull_rate = 10'000; ///< packets a second
/// Pulls the cable that carries the traffic to that client, and puts it back.
Pull pull_cable(const Stage& stage, unsigned client);

double median(std::vector<double> values);

} // namespace teamo::demo
