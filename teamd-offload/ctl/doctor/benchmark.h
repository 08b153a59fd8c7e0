// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a step gains, from alternating rounds without it and with it; pure.
#pragma once

#include "model/status.h"

#include <string>
#include <vector>

namespace teamo::ctl {

/// Two rounds, one after the other: the load changes less between them than over the whole measurement.
struct BenchmarkPair {
    struct Side {
        double bytes = 0;       ///< per second, sent and received
        double cpu_per_kib = 0; ///< microseconds of busy CPU time per KiB
        bool operator==(const Side&) const = default;
    };
    Side without, with;
    bool operator==(const BenchmarkPair&) const = default;
};

/// Five of five pairs agree by chance once in 16 times.
constexpr std::size_t benchmark_rounds = 5;
/// A smaller relative difference is not reported.
constexpr double min_difference = 0.03;

/// Compares CPU time per KiB and throughput by the ratios of the pairs. A gain or loss: at least four of five
/// pairs agree and the median differs by more than 3 %. None: both medians differ by less.
BenchmarkResult evaluate(const std::vector<BenchmarkPair>& pairs);

/// "interrupts: 2.31 µs of CPU time per KiB with it, 2.80 without (-17.5 %); 940 Mbit/s with it, 938 Mbit/s
/// without (+0.2 %): a gain\n".
std::string text_of(const std::string& step, const BenchmarkResult& result);

} // namespace teamo::ctl
