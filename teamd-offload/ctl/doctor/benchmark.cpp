// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/benchmark.h"

#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teamo::ctl {
namespace {

using Side = BenchmarkPair::Side;

struct Change {
    double median = 1;              ///< of the pairs' ratios: with / without
    std::size_t less = 0, more = 0; ///< pairs with a ratio below 1, above 1
};

Change change_of(const std::vector<BenchmarkPair>& pairs, double Side::*figure) {
    Change change;
    std::vector<double> ratios;
    for (const auto& pair : pairs) {
        ratios.push_back(pair.with.*figure / pair.without.*figure);
        if (ratios.back() < 1) ++change.less;
        if (ratios.back() > 1) ++change.more;
    }
    change.median = median(ratios);
    return change;
}

/// How a figure with the step compares to the figure without it.
enum class Verdict : std::uint8_t { less, same, more, unclear };
Verdict verdict(const Change& change, std::size_t pairs) {
    if (std::abs(change.median - 1) <= min_difference) return Verdict::same;
    if (change.median < 1 && change.less + 1 >= pairs) return Verdict::less;
    if (change.median > 1 && change.more + 1 >= pairs) return Verdict::more;
    return Verdict::unclear;
}

double median_of(const std::vector<BenchmarkPair>& pairs, Side BenchmarkPair::*side, double Side::*figure) {
    std::vector<double> values;
    for (const auto& pair : pairs)
        values.push_back(pair.*side.*figure);
    return median(values);
}

std::uint64_t to_count(double figure) {
    return static_cast<std::uint64_t>(std::llround(std::max(figure, 0.0)));
}

std::string percent(std::uint64_t without, std::uint64_t with) {
    if (without == 0) return "";
    return fmt::format(" ({:+.1f} %)", 100 * (static_cast<double>(with) / static_cast<double>(without) - 1));
}

const char* text_of(BenchmarkEffect effect) {
    switch (effect) {
    case BenchmarkEffect::gain: return "a gain";
    case BenchmarkEffect::none: return "no difference";
    case BenchmarkEffect::loss: return "a loss";
    case BenchmarkEffect::unclear: break;
    }
    return "not clear, the rounds contradict each other";
}

} // namespace

BenchmarkResult evaluate(const std::vector<BenchmarkPair>& pairs) {
    // Rounds with less than a MiB per second are too small to compare.
    constexpr double min_bytes = 1 << 20;
    std::vector<BenchmarkPair> usable;
    for (const auto& pair : pairs)
        if (std::min(pair.without.bytes, pair.with.bytes) >= min_bytes &&
            std::min(pair.without.cpu_per_kib, pair.with.cpu_per_kib) > 0)
            usable.push_back(pair);
    if (usable.size() < benchmark_rounds) return {};
    const auto in_ns = [&](Side BenchmarkPair::*side) {
        return to_count(1000 * median_of(usable, side, &Side::cpu_per_kib));
    };
    const auto bytes = [&](Side BenchmarkPair::*side) {
        return to_count(median_of(usable, side, &Side::bytes));
    };
    BenchmarkResult result{.bytes_without = bytes(&BenchmarkPair::without),
                           .bytes_with = bytes(&BenchmarkPair::with),
                           .cpu_without = in_ns(&BenchmarkPair::without),
                           .cpu_with = in_ns(&BenchmarkPair::with)};
    const auto cpu = verdict(change_of(usable, &Side::cpu_per_kib), usable.size());
    const auto throughput = verdict(change_of(usable, &Side::bytes), usable.size());
    using enum Verdict;
    const bool gain = cpu == less || throughput == more, loss = cpu == more || throughput == less;
    result.effect = gain && !loss                       ? BenchmarkEffect::gain
                    : loss && !gain                     ? BenchmarkEffect::loss
                    : cpu == same && throughput == same ? BenchmarkEffect::none
                                                        : BenchmarkEffect::unclear;
    return result;
}

std::string text_of(const std::string& step, const BenchmarkResult& result) {
    if (result.bytes_with == 0) return fmt::format("{}: too little traffic for a measurement\n", step);
    return fmt::format(
        "{}: {:.2f} µs of CPU time per KiB with it, {:.2f} without{}; {} with it, {} without{}: {}\n", step,
        static_cast<double>(result.cpu_with) / 1000, static_cast<double>(result.cpu_without) / 1000,
        percent(result.cpu_without, result.cpu_with), megabits(static_cast<double>(result.bytes_with)),
        megabits(static_cast<double>(result.bytes_without)), percent(result.bytes_without, result.bytes_with),
        text_of(result.effect));
}

} // namespace teamo::ctl
