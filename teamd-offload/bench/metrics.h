// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The figures of a round, with their definitions and the papers that measured so. man/teamo-metrics.7 has
// them at length; a test compares the two.
//
// The papers:
//   APA      HP Auto Port Aggregation: throughput by ports beside the CPU, service demand
//   HP TSO   HP's TCP segmentation offload: service demand, the packets that a host handles
//   TOE      Broadcom's TCP offload engine: performance efficiency, watts
//   FEP      Tandem's front end processor: i/o's, bandwidth by CPU
#pragma once

#include "bench/results.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace teamo::bench {

/// Whose CPU time is counted: of the measured host, if it has CPUs of its own, or of the machine with both
/// ends.
enum class Basis : std::uint8_t { host, machine };

/// Host, if each round of each case has the CPU time of the host: figures on different bases do not compare.
/// Cases with bindings do not decide, if there are others: they compare with each other alone. Where their
/// ends share CPUs, their figures count both ends.
Basis basis_of(const Results& results);
/// That of one case.
Basis basis_of(const Results& results, const Measured& measured);

enum class Figure : std::uint8_t {
    throughput,
    cpu,
    cpu_user,
    cpu_system,
    cpu_softirq,
    process_cpu,
    daemon_cpu,
    far_daemon_cpu,
    service_demand,
    far_service_demand,
    process_demand,
    far_process_demand,
    pe_index,
    tx_packets,
    rx_packets,
    tx_skbs,
    rx_skbs,
    tx_skb_bytes,
    rx_skb_bytes,
    fullest_port,
    packet_saving,
    io_by_size,
    io_measured,
    io_time,
    file_time,
    gigabyte_time,
    operations,
    latency_50,
    latency_90,
    latency_99,
    latency_99_9,
    joules_per_gb,
    own_speed
};
using enum Figure;

struct Metric {
    Figure figure{};
    std::string_view key{}; ///< its name in teamo-metrics(7)
    std::string_view title{}, unit{};
    int digits = 0;                ///< behind the point
    std::string_view paper{};      ///< empty: none of them
    std::string_view definition{}; ///< one sentence
};
std::span<const Metric> metrics();
const Metric& metric_of(Figure figure);

/// None: it was not measured in this round.
std::optional<double> value_of(Figure figure, const Case& what, const Sample& round, Basis basis);

/// Median and extremes of the rounds.
struct Spread {
    double median = 0, low = 0, high = 0;
    std::size_t rounds = 0;
    bool operator==(const Spread&) const = default;
};
/// None without values.
std::optional<Spread> spread_of(const std::vector<double>& values);
/// Of the rounds that have the figure.
std::optional<Spread> spread_of(const Measured& measured, Basis basis, Figure figure);

/// Rounds within this of their median agree.
inline constexpr double agreement = 0.05;
bool agrees(const Spread& spread);

/// What each CPU of the machine did, as shares of its time, 0 to 1: each the median of the rounds.
std::map<unsigned, CpuTime> shares_by_cpu(const Measured& measured);
/// All but idle. Not the sum of the medians of the parts.
inline double busy_share(const CpuTime& shares) { return 1 - shares.idle; }
/// Whether any of them was in an interrupt; many kernels count no such time.
bool has_irq(const std::map<unsigned, CpuTime>& shares);

} // namespace teamo::bench
