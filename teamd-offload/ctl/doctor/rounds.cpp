// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/rounds.h"

#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace teamo::ctl {
namespace {

using Pairs = std::vector<RoundPair>;
using Side = Round RoundPair::*;
using Figure = double Round::*;

constexpr double header = 66;

std::vector<double> figures(const Pairs& pairs, Side side, Figure figure) {
    std::vector<double> values;
    for (const auto& pair : pairs)
        values.push_back(pair.*side.*figure);
    return values;
}

Round medians(const Pairs& pairs, Side side) {
    return {.bytes = median(figures(pairs, side, &Round::bytes)),
            .cpu_per_kib = median(figures(pairs, side, &Round::cpu_per_kib))};
}

struct Range {
    double least, most;
    double width() const { return most - least; }
};

/// Of the bytes, without the smallest and the largest value.
Range inner_range(const Pairs& pairs, Side side) {
    auto values = figures(pairs, side, &Round::bytes);
    std::ranges::sort(values);
    return {.least = values[1], .most = values[values.size() - 2]};
}

/// How a figure with the step compares to the figure without it.
enum class Verdict : std::uint8_t { less, same, more, unclear };
Verdict verdict(const Pairs& pairs, Figure figure) {
    std::vector<double> ratios;
    std::size_t less = 0, more = 0;
    for (const auto& pair : pairs) {
        ratios.push_back(pair.with.*figure / pair.without.*figure);
        if (ratios.back() < 1) ++less;
        if (ratios.back() > 1) ++more;
    }
    const auto ratio = median(ratios);
    if (std::abs(ratio - 1) <= min_difference) return Verdict::same;
    if (ratio < 1 && less + 1 >= pairs.size()) return Verdict::less;
    if (ratio > 1 && more + 1 >= pairs.size()) return Verdict::more;
    return Verdict::unclear;
}

std::uint64_t to_count(double figure) {
    return static_cast<std::uint64_t>(std::llround(std::max(figure, 0.0)));
}

std::string percent(std::uint64_t without, std::uint64_t with) {
    if (without == 0) return "";
    return fmt::format(" ({:+.1f} %)", 100 * (static_cast<double>(with) / static_cast<double>(without) - 1));
}

} // namespace

Round round_of(double bytes, const CpuReading& earlier, const CpuReading& later) {
    const std::chrono::duration<double> time = later.at - earlier.at;
    const auto busy = busy_seconds(earlier, later, ticks_per_second());
    return {.bytes = time.count() > 0 ? bytes / time.count() : 0,
            .cpu_per_kib = bytes > 0 ? busy * 1e6 / (bytes / 1024) : 0};
}

double payload_between(const PortCounters& earlier, const PortCounters& later) {
    if (later.tx_bytes < earlier.tx_bytes || later.tx_packets < earlier.tx_packets) return 0;
    const auto bytes = static_cast<double>(later.tx_bytes - earlier.tx_bytes);
    const auto packets = static_cast<double>(later.tx_packets - earlier.tx_packets);
    return std::max(bytes - header * packets, 0.0);
}

std::optional<Comparison> compare(const Trial& trial) {
    if (trial.pairs.size() < trial_pairs) return std::nullopt;
    Comparison comparison{.with = medians(trial.pairs, &RoundPair::with),
                          .without = medians(trial.pairs, &RoundPair::without)};
    if (comparison.with.bytes <= 0) return std::nullopt;
    const auto difference = comparison.without.bytes - comparison.with.bytes;
    const auto with = inner_range(trial.pairs, &RoundPair::with);
    const auto without = inner_range(trial.pairs, &RoundPair::without);
    comparison.gain = difference / comparison.with.bytes;
    comparison.beyond_noise = comparison.gain > min_gain && without.least > with.most &&
                              difference > std::max(with.width(), without.width());
    return comparison;
}

BenchmarkResult evaluate(const std::vector<RoundPair>& pairs) {
    // Rounds with less than a MiB per second are too small to compare.
    constexpr double min_bytes = 1 << 20;
    auto usable = pairs;
    std::erase_if(usable, [](const RoundPair& pair) {
        return std::min(pair.without.bytes, pair.with.bytes) < min_bytes ||
               std::min(pair.without.cpu_per_kib, pair.with.cpu_per_kib) <= 0;
    });
    if (usable.size() < benchmark_pairs) return {};
    const auto with = medians(usable, &RoundPair::with), without = medians(usable, &RoundPair::without);
    BenchmarkResult result{.bytes_without = to_count(without.bytes),
                           .bytes_with = to_count(with.bytes),
                           .cpu_without = to_count(1000 * without.cpu_per_kib),
                           .cpu_with = to_count(1000 * with.cpu_per_kib)};
    const auto cpu = verdict(usable, &Round::cpu_per_kib), throughput = verdict(usable, &Round::bytes);
    using enum Verdict;
    const bool gain = cpu == less || throughput == more, loss = cpu == more || throughput == less;
    result.effect = gain && !loss                       ? BenchmarkEffect::gain
                    : loss && !gain                     ? BenchmarkEffect::loss
                    : cpu == same && throughput == same ? BenchmarkEffect::none
                                                        : BenchmarkEffect::unclear;
    return result;
}

std::string text_of(const std::string& step, const BenchmarkResult& result) {
    if (result.bytes_with == 0) return fmt::format("{}: too little traffic for a measurement", step);
    constexpr std::array effects{"not clear, the rounds contradict each other", "no difference", "a gain",
                                 "a loss"};
    return fmt::format(
        "{}: {:.2f} µs of CPU time per KiB with it, {:.2f} without{}; {} with it, {} without{}: {}", step,
        static_cast<double>(result.cpu_with) / 1000, static_cast<double>(result.cpu_without) / 1000,
        percent(result.cpu_without, result.cpu_with), megabits(static_cast<double>(result.bytes_with)),
        megabits(static_cast<double>(result.bytes_without)), percent(result.bytes_without, result.bytes_with),
        effects[static_cast<std::size_t>(result.effect)]);
}

} // namespace teamo::ctl
