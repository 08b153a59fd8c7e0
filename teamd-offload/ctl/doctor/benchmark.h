// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a step buys, out of rounds without it and with it in turn; pure.
#pragma once

#include "model/benchmark.h"

#include <string>
#include <vector>

namespace teamo::ctl {

/// Neighbours in time: the load of the day changes less between them than over the whole.
struct BenchmarkPair {
    struct Side {
        double bytes = 0;       ///< per second, both ways
        double cpu_per_kib = 0; ///< microseconds of busy CPU time for a KiB
        bool operator==(const Side&) const = default;
    };
    Side without, with;
    bool operator==(const BenchmarkPair&) const = default;
};

/// All five of five agree by chance once in 16.
constexpr std::size_t benchmark_rounds = 5;
/// Below that nobody needs to know.
constexpr double least_difference = 0.03;

/// By the pairs' ratios: of CPU time for a KiB, else of throughput. Something, or harm, where all pairs but
/// one at the most say so and their median is beyond 3 %; nothing where the medians of both are within it.
BenchmarkResult evaluate(const std::vector<BenchmarkPair>& pairs);

/// "interrupts: 2.31 µs of CPU time per KiB with it, 2.80 without (-17.5 %); 940 Mbit/s, 938 without: it buys
/// something".
std::string text_of(const std::string& step, const BenchmarkResult& result);

} // namespace teamo::ctl
