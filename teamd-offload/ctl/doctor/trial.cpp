// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/trial.h"
#include "ctl/units.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

constexpr double header = 66;

struct Range {
    double least, most;
    double width() const { return most - least; }
};

/// The range without the smallest and the largest value.
Range inner_range(std::vector<double> values) {
    std::ranges::sort(values);
    return {.least = values[1], .most = values[values.size() - 2]};
}

std::vector<double> of_rounds(const Trial& trial, bool tso, double Round::*figure) {
    std::vector<double> values;
    for (const auto& round : trial.rounds)
        if (round.tso == tso) values.push_back(round.*figure);
    return values;
}

} // namespace

double payload_between(const PortCounters& earlier, const PortCounters& later) {
    if (later.tx_bytes < earlier.tx_bytes || later.tx_packets < earlier.tx_packets) return 0;
    const auto bytes = static_cast<double>(later.tx_bytes - earlier.tx_bytes);
    const auto packets = static_cast<double>(later.tx_packets - earlier.tx_packets);
    return std::max(bytes - header * packets, 0.0);
}

Round round_of(bool tso, double payload, std::chrono::duration<double> time,
               std::chrono::duration<double> busy) {
    return {.tso = tso,
            .bytes = time.count() > 0 ? payload / time.count() : 0,
            .cpu_per_kib = payload > 0 ? busy.count() * 1e6 / (payload / 1024) : 0};
}

std::optional<Comparison> compare(const Trial& trial) {
    const auto with = of_rounds(trial, true, &Round::bytes), without = of_rounds(trial, false, &Round::bytes);
    if (std::min(with.size(), without.size()) < rounds_per_mode || median(with) <= 0) return std::nullopt;
    Comparison comparison{.with = median(with),
                          .without = median(without),
                          .cpu_with = median(of_rounds(trial, true, &Round::cpu_per_kib)),
                          .cpu_without = median(of_rounds(trial, false, &Round::cpu_per_kib)),
                          .rounds = std::min(with.size(), without.size())};
    const auto difference = comparison.without - comparison.with;
    const auto range_with = inner_range(with), range_without = inner_range(without);
    comparison.gain = difference / comparison.with;
    comparison.beyond_noise = comparison.gain > min_gain && range_without.least > range_with.most &&
                              difference > std::max(range_with.width(), range_without.width());
    return comparison;
}

} // namespace teamo::ctl
