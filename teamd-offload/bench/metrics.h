// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The figures of a round, each as a function of what was measured, with its definition and the paper that
// measured so. man/teamo-metrics.7 has them at length; a test compares the two.
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

/// None: it was not measured in this round.
using Figure = std::optional<double> (*)(const Case& what, const Sample& round, Basis basis);

std::optional<double> throughput(const Case&, const Sample&, Basis);
std::optional<double> cpu(const Case&, const Sample&, Basis);
std::optional<double> cpu_user(const Case&, const Sample&, Basis);
std::optional<double> cpu_system(const Case&, const Sample&, Basis);
std::optional<double> cpu_softirq(const Case&, const Sample&, Basis);
std::optional<double> process_cpu(const Case&, const Sample&, Basis);
std::optional<double> daemon_cpu(const Case&, const Sample&, Basis);
std::optional<double> far_daemon_cpu(const Case&, const Sample&, Basis);
std::optional<double> service_demand(const Case&, const Sample&, Basis);
std::optional<double> far_service_demand(const Case&, const Sample&, Basis);
std::optional<double> process_demand(const Case&, const Sample&, Basis);
std::optional<double> far_process_demand(const Case&, const Sample&, Basis);
std::optional<double> pe_index(const Case&, const Sample&, Basis);
std::optional<double> tx_packets(const Case&, const Sample&, Basis);
std::optional<double> rx_packets(const Case&, const Sample&, Basis);
std::optional<double> tx_skbs(const Case&, const Sample&, Basis);
std::optional<double> rx_skbs(const Case&, const Sample&, Basis);
std::optional<double> tx_skb_bytes(const Case&, const Sample&, Basis);
std::optional<double> rx_skb_bytes(const Case&, const Sample&, Basis);
std::optional<double> fullest_port(const Case&, const Sample&, Basis);
std::optional<double> packet_saving(const Case&, const Sample&, Basis);
std::optional<double> io_by_size(const Case&, const Sample&, Basis);
std::optional<double> io_measured(const Case&, const Sample&, Basis);
std::optional<double> io_time(const Case&, const Sample&, Basis);
std::optional<double> file_time(const Case&, const Sample&, Basis);
std::optional<double> gigabyte_time(const Case&, const Sample&, Basis);
std::optional<double> operations(const Case&, const Sample&, Basis);
std::optional<double> latency_50(const Case&, const Sample&, Basis);
std::optional<double> latency_90(const Case&, const Sample&, Basis);
std::optional<double> latency_99(const Case&, const Sample&, Basis);
std::optional<double> latency_99_9(const Case&, const Sample&, Basis);
std::optional<double> joules_per_gb(const Case&, const Sample&, Basis);
std::optional<double> own_speed(const Case&, const Sample&, Basis);

struct Metric {
    std::string_view key; ///< its name in teamo-metrics(7)
    std::string_view title, unit;
    std::string_view definition; ///< one sentence
    std::string_view paper;      ///< empty: none of them
    Figure figure;
    int digits = 0; ///< behind the point
};
std::span<const Metric> metrics();
/// The entry of this figure; each figure has one.
const Metric& metric_of(Figure figure);

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
