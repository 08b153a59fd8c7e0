// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/compare.h"

#include "bench/papers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace teamo::bench {
namespace {

/// How a subject is made: from which case, by which figure.
struct Rule {
    Subject about;
    std::string_view title, paper;
    Figure figure;
    /// The cases to compare with, best first; none: the case is no judged one.
    std::vector<Case> (*against)(const Case& what);
    /// What the figure of `against` is multiplied with.
    double (*factor)(const Case& what);
    /// The paper's ratio for the same; nullptr: it has no number ("virtually identical"), or there is no
    /// paper.
    std::optional<double> (*papers_ratio)(Way way, unsigned ports) = nullptr;
};

double one(const Case&) { return 1; }
double by_port_count(const Case& what) { return what.ports; }

/// The same on bare ports.
Case bare(Case what) {
    what.over = Carrier::ports;
    what.datapath.clear();
    return what;
}

std::vector<Case> single_port(const Case& what) {
    if (what.ports < 2) return {};
    auto single = what;
    single.ports = 1;
    return {bare(single), single};
}

std::vector<Case> two_ports(const Case& what) {
    if (what.ports <= 2) return {};
    auto two = what;
    two.ports = 2;
    return {two};
}

std::vector<Case> without_tso(const Case& what) {
    if (!what.tso) return {};
    auto off = what;
    off.tso = false;
    return {off};
}

std::vector<Case> without_team(const Case& what) {
    return what.over == Carrier::ports ? std::vector<Case>{} : std::vector{bare(what)};
}

std::vector<Case> unbound(const Case& what) {
    if (what.binding != Binding::follow && what.binding != Binding::cross) return {};
    auto free = what;
    free.binding = Binding::unbound;
    return {free};
}

std::optional<double> hp_tso_demand(Way way, unsigned ports) {
    const auto saving = hp_tso_saving(way, ports);
    return saving ? std::optional(1 - *saving) : std::nullopt;
}

std::optional<double> linux_tso_throughput(Way way, unsigned ports) {
    const auto gain = linux_tso_gain(way, ports);
    return gain ? std::optional(1 + *gain) : std::nullopt;
}

const auto rules = std::to_array<Rule>({
    {Subject::single_sum, "throughput, of the single ports' sum", "APA", throughput, single_port,
     by_port_count, apa_of_sum},
    {Subject::demand_by_ports, "service demand, against 2 ports", "APA", service_demand, two_ports, one,
     apa_demand_rise},
    {Subject::tso_demand, "service demand, TSO on against off", "HP TSO", service_demand, without_tso, one,
     hp_tso_demand},
    {Subject::tso_throughput, "throughput, TSO on against off", "Linux TSO", throughput, without_tso, one,
     linux_tso_throughput},
    {Subject::bare_throughput, "throughput, against the ports alone", "TOE", throughput, without_team, one},
    {Subject::bare_demand, "service demand, against the ports alone", "TOE", service_demand, without_team,
     one},
    {Subject::bound_throughput, "throughput, workers bound against unbound", "", throughput, unbound, one},
    {Subject::bound_demand, "service demand, workers bound against unbound", "", service_demand, unbound,
     one},
});

const Rule& rule_of(Subject about) { return rules.at(static_cast<std::size_t>(about)); }

std::string range_text(const Case& what, const Metric& metric, const Spread& spread) {
    return fmt::format("{} of {} lay between {:.{}f} and {:.{}f} {}", metric.title, case_text(what),
                       spread.low, metric.digits, spread.high, metric.digits, metric.unit);
}

double width_of(const Spread& spread) {
    return spread.median > 0 ? (spread.high - spread.low) / spread.median : 0;
}

/// "; the machine itself was 20 % slower then", for the later run; empty: it was as fast, or that is not
/// known.
std::string speed_text(const std::optional<Spread>& earlier, const std::optional<Spread>& later) {
    if (!earlier || !later || earlier->median <= 0) return "";
    const double moved = later->median / earlier->median - 1;
    if (std::abs(moved) <= agreement) return "";
    return fmt::format("; the machine itself was {:.0f} % {} then", 100 * std::abs(moved),
                       moved < 0 ? "slower" : "faster");
}

/// Names the side whose rounds differ more.
std::string why_rounds_differ(const Measured& what, const Measured& against, Basis basis, Figure figure) {
    const auto left = spread_of(what, basis, figure), right = spread_of(against, basis, figure);
    if (!left || !right) return "";
    const bool first = width_of(*left) >= width_of(*right);
    const auto& side = first ? what : against;
    auto why = range_text(side.what, metric_of(figure), first ? *left : *right);
    const auto speed = spread_of(side, basis, own_speed);
    if (speed && !agrees(*speed))
        why += fmt::format("; the speed of the machine itself differed by {:.0f} %", 100 * width_of(*speed));
    return why;
}

std::optional<Comparison> compared(const Rule& rule, const Measured& what, const Measured& against,
                                   Basis basis) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(what.rounds.size(), against.rounds.size()); ++round) {
        const auto figure = value_of(rule.figure, what.what, what.rounds[round], basis);
        const auto other = value_of(rule.figure, against.what, against.rounds[round], basis);
        if (figure && other && *other > 0) ratios.push_back(*figure / (*other * rule.factor(what.what)));
    }
    const auto spread = spread_of(ratios);
    if (!spread) return std::nullopt;
    Comparison comparison{.about = rule.about, .what = what.what, .against = against.what, .ratio = *spread};
    if (!agrees(*spread)) comparison.why = why_rounds_differ(what, against, basis, rule.figure);
    return comparison;
}

void compare_by(const Rule& rule, const Results& results, Basis basis, std::vector<Comparison>& found) {
    for (const auto& measured : results.cases) {
        if (measured.rounds.empty()) continue;
        for (const auto& other : rule.against(measured.what)) {
            const auto* against = find(results, other);
            if (against == nullptr) continue;
            if (auto comparison = compared(rule, measured, *against, basis))
                found.push_back(std::move(*comparison));
            break;
        }
    }
}

/// Names the side that moved more between two runs.
std::string why_runs_differ(const Comparison& comparison, const Results& first, const Results& second) {
    const auto& metric = metric_of(rule_of(comparison.about).figure);
    std::string why;
    double most = 0;
    for (const auto& what : {comparison.what, comparison.against}) {
        const auto &earlier = *find(first, what), &later = *find(second, what);
        const auto before = spread_of(earlier, basis_of(first), metric.figure);
        const auto after = spread_of(later, basis_of(second), metric.figure);
        if (!before || !after || before->median <= 0) continue;
        const double moved = std::abs(after->median / before->median - 1);
        if (moved < most) continue;
        most = moved;
        why = fmt::format("{} of {} was {:.{}f}, then {:.{}f} {}", metric.title, case_text(what),
                          before->median, metric.digits, after->median, metric.digits, metric.unit);
        why += speed_text(spread_of(earlier, basis_of(first), own_speed),
                          spread_of(later, basis_of(second), own_speed));
    }
    return why;
}

} // namespace

const Measured* find(const Results& results, const Case& what) {
    const auto found = std::ranges::find_if(results.cases, [&](const Measured& measured) {
        return measured.what == what && !measured.rounds.empty();
    });
    return found == results.cases.end() ? nullptr : &*found;
}

Case usual_case(const Results& results) {
    Case usual;
    std::ptrdiff_t most = 0;
    const auto settings = [](Case what) {
        what.ports = 1;
        what.way = Way::transmit;
        what.tso = true;
        return what;
    };
    // Of our team first, then of streams: other cases are there to be compared with these.
    const auto weight = [](const Case& what) {
        return (what.over == Carrier::team ? 4 : 1) * (what.load == Load::stream ? 4 : 1);
    };
    for (const auto& measured : results.cases) {
        if (measured.rounds.empty()) continue;
        const auto candidate = settings(measured.what);
        const auto alike =
            weight(candidate) * std::ranges::count_if(results.cases, [&](const Measured& other) {
                return !other.rounds.empty() && settings(other.what) == candidate;
            });
        if (alike <= most) continue;
        most = alike;
        usual = candidate;
    }
    // Off only if these were measured so alone.
    if (most > 0)
        usual.tso = std::ranges::any_of(results.cases, [&](const Measured& other) {
            return other.what.tso && !other.rounds.empty() && settings(other.what) == usual;
        });
    return usual;
}

std::vector<Comparison> comparisons(const Results& results) {
    std::vector<Comparison> found;
    const auto basis = basis_of(results);
    for (const auto& rule : rules)
        compare_by(rule, results, basis, found);
    return found;
}

std::string_view title_of(Subject about) { return rule_of(about).title; }
std::string_view paper_of(Subject about) { return rule_of(about).paper; }

std::optional<double> papers_ratio(Subject about, const Case& what) {
    const auto ratio = rule_of(about).papers_ratio;
    return ratio == nullptr ? std::nullopt : ratio(what.way, what.ports);
}

Agreement agreement_of(const Results& first, const Results& second) {
    Agreement found;
    const auto others = comparisons(second);
    for (const auto& comparison : comparisons(first)) {
        const auto same = std::ranges::find_if(others, [&](const Comparison& other) {
            return other.about == comparison.about && other.what == comparison.what &&
                   other.against == comparison.against;
        });
        if (same == others.end()) continue;
        const bool same_basis = basis_of(first, *find(first, comparison.what)) ==
                                basis_of(second, *find(second, comparison.what));
        if (!same_basis && rule_of(comparison.about).figure == service_demand) continue;
        ++found.compared;
        if (std::abs(same->ratio.median / comparison.ratio.median - 1) > agreement)
            found.differences.push_back({comparison, *same, why_runs_differ(comparison, first, second)});
    }
    return found;
}

} // namespace teamo::bench
