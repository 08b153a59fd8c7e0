// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The figures of the papers that a report sets beside its own. What a paper shows only as a curve, without a
// number, is not here: nothing is read off or estimated.
#pragma once

#include "bench/results.h"

#include <optional>
#include <span>
#include <string_view>

namespace teamo::bench {

struct Paper {
    std::string_view key;   ///< as in the output
    std::string_view about; ///< what it is, and on what it measured
    std::string_view found; ///< its figures in words
};
std::span<const Paper> papers();

/// Mbit/s with that many ports, TSO off. None: the paper has no such figure.
std::optional<double> apa_throughput(Way way, unsigned ports);
/// The share of the single ports' sum, 0 to 1.
std::optional<double> apa_of_sum(Way way, unsigned ports);
/// Service demand by that with 2 ports.
std::optional<double> apa_demand_rise(Way way, unsigned ports);
/// What TSO takes off the service demand, 0 to 1.
std::optional<double> hp_tso_saving(Way way, unsigned ports);

/// What TSO adds to the throughput of Linux 2.5.33 with one e1000 port, 0.05 for 5 %.
std::optional<double> linux_tso_gain(Way way, unsigned ports);

/// TCP packets of a host that sends, by HP's count: 40 and 20 acknowledgements without TSO, 1 and 20 with it.
inline constexpr double hp_packets_without_tso = 40 + 20, hp_packets_with_tso = 1 + 20;

} // namespace teamo::bench
