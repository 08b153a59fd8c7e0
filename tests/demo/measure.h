// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/stage.h"
#include "support/traffic.h"

#include <vector>

namespace teamo::demo {

/// What eight clients got at once, and what it cost.
struct Transfer {
    double megabits = 0;      ///< a second, as the clients' TCP received it
    double bytes_per_skb = 0; ///< transmitted, by the ports' own counters
    double cpu_per_kb = 0;    ///< microseconds of busy CPU, of the whole machine, per 1,024 bytes
};
Transfer transfer(const Stage& stage, std::chrono::seconds length);

/// One cable pulled under traffic and put back.
struct Pull {
    unsigned port = 0;
    std::uint64_t lost = 0; ///< packets
};
inline constexpr unsigned pull_rate = 10'000; ///< packets a second
/// Pulls the cable that carries the stream.
Pull pull_cable(const Stage& stage, const test::Stream& stream);

double median(std::vector<double> values);

} // namespace teamo::demo
