// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/stage.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace teamo::demo {

/// Throughput to eight clients at once, and its cost. All figures but iperf3's cover the same interval, in
/// which all clients were at full speed.
struct Transfer {
    double megabits = 0;        ///< per second, TCP payload that reached the clients' devices
    double iperf3_megabits = 0; ///< sum of what each iperf3 reports for its own interval
    double bytes_per_skb = 0;   ///< transmitted, by the ports' own counters
    double least_share = 0;     ///< share of all bytes sent by the port that sent least
    double cpu_per_kb = 0;      ///< microseconds of busy CPU, of the whole machine, per 1,024 bytes
};
/// Runs eight iperf3 at once for this time.
Transfer transfer(const Stage& stage, std::chrono::seconds length);

} // namespace teamo::demo
