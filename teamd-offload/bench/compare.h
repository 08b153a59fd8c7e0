// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cases that differ in one member, compared round by round. A comparison exists only if both cases were
// measured.
#pragma once

#include "bench/metrics.h"

#include <string>
#include <vector>

namespace teamo::bench {

enum class Subject : std::uint8_t {
    single_sum,       ///< throughput of n ports, by n times that of one port
    demand_by_ports,  ///< service demand, by that of 2 ports
    tso_demand,       ///< service demand with TSO, by that without
    tso_throughput,   ///< throughput with TSO, by that without
    bare_throughput,  ///< throughput of a team or bond, by that of the same ports without it
    bare_demand,      ///< service demand of a team or bond, by that of the same ports without it
    bound_throughput, ///< throughput with workers bound, by that with them unbound
    bound_demand,     ///< service demand with workers bound, by that with them unbound
};

struct Comparison {
    Subject about = Subject::single_sum;
    Case what{};       ///< the case that is judged
    Case against{};    ///< what it is compared with
    Spread ratio{};    ///< of the rounds, pair by pair
    std::string why{}; ///< why its rounds do not agree; empty: they do, or there is one round
};

std::vector<Comparison> comparisons(const Results& results);

/// "service demand, TSO on : off".
std::string_view title_of(Subject about);
/// The paper's ratio for the same, if it has a figure.
std::optional<double> papers_ratio(Subject about, const Case& what);
/// Whose figure that is: "APA".
std::string_view paper_of(Subject about);
/// "-62 %"; for the single ports' sum "99 %"; for service demand by ports "1.04 times".
std::string ratio_text(Subject about, double ratio);
/// Median with the range of the rounds: "-62 % (-64 % to -61 %)".
std::string ratio_text(const Comparison& comparison);

/// "team, 8 ports, both ways, TSO off": what differs from an ordinary case is named.
std::string case_text(const Case& what);
/// The same without ports and way: what a table with rows for these has in common.
std::string setup_text(const Case& what);
/// With the datapath: "team (bpf)".
std::string carrier_words(const Case& what);
std::string_view way_text(Way way);
std::string_view load_text(Load load);
/// "CPU", "shaper", "link" or "not known".
std::string_view limit_text(Limit limit);

/// A ratio that two runs do not agree on.
struct Disagreement {
    Comparison first, second;
    std::string why;
};
struct Agreement {
    std::size_t compared = 0;                ///< ratios that both have
    std::vector<Disagreement> differences{}; ///< those that differ by more than `agreement`
};
/// CPU time that is counted on another basis is not compared.
Agreement agreement_of(const Results& first, const Results& second);

/// The first case like this that was measured; nullptr: none.
const Measured* find(const Results& results, const Case& what);

/// The settings that most cases share, on our team or what there is: 1 port, transmitting, TSO on, or off
/// if none of them had it on. Tables and charts show these and vary one or two of them.
Case usual_case(const Results& results);

} // namespace teamo::bench

template <>
inline constexpr std::array<std::string_view, 8> teamo::enum_names<teamo::bench::Subject>{
    "single_sum",      "demand_by_ports", "tso_demand",       "tso_throughput",
    "bare_throughput", "bare_demand",     "bound_throughput", "bound_demand"};
