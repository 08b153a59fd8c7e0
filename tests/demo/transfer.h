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
    double least_share = 0;     ///< of the port that sent least, in all bytes sent
    double cpu_per_kb = 0;      ///< microseconds of busy CPU, of the whole machine, per 1,024 bytes
};
/// Eight iperf3 at once, for so long.
Transfer transfer(const Stage& stage, std::chrono::seconds length);

} // namespace teamo::demo
