// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/rounds.h"

#include "text/numbers.h"

#include <algorithm>

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

} // namespace

Round round_of(double bytes, const CpuReading& earlier, const CpuReading& later) {
    const std::chrono::duration<double> time = later.at - earlier.at;
    const auto busy = busy_seconds(earlier, later, ticks_per_second());
    return {.bytes = time.count() > 0 ? bytes / time.count() : 0,
            .cpu_per_kib = service_demand(busy, bytes).value_or(0)};
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

} // namespace teamo::ctl
