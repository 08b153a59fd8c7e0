// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/summary.h"

#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace teamo::ctl::bench {
namespace {

bool is_like(Case what, const Case& usual) {
    what.ports = usual.ports;
    what.way = usual.way;
    what.tso = usual.tso;
    return what == usual;
}

/// With the most ports; nullptr: none.
const Measured* widest(const Results& results, const Case& usual, Way way) {
    const Measured* found = nullptr;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty() && measured.what.way == way && measured.what.tso &&
            is_like(measured.what, usual) && (found == nullptr || measured.what.ports > found->what.ports))
            found = &measured;
    return found;
}

/// Of that subject with the most ports, like the usual case except for what the subject is about; nullptr:
/// none.
const Comparison* widest(const std::vector<Comparison>& all, Subject about, const Case& usual, Way way,
                         Binding binding) {
    const Comparison* found = nullptr;
    auto like = usual;
    like.binding = binding;
    for (const auto& comparison : all)
        if (comparison.about == about && comparison.what.way == way && is_like(comparison.what, like) &&
            comparison.what.tso && (found == nullptr || comparison.what.ports > found->what.ports))
            found = &comparison;
    return found;
}

std::string lower_or_higher(double ratio) {
    return fmt::format("{:.0f} % {}", 100 * std::abs(ratio - 1), ratio <= 1 ? "lower" : "higher");
}

std::string beside_paper(const Comparison& comparison) {
    const auto paper = papers_ratio(comparison);
    return paper ? fmt::format(" ({}: {})", paper_of(comparison.about), lower_or_higher(*paper)) : "";
}

using Say = std::string (*)(const Comparison& comparison);

std::string tso_sentence(const Comparison& found) {
    return fmt::format("TSO kept: service demand {} than with TSO off{}", lower_or_higher(found.ratio.median),
                       beside_paper(found));
}
std::string ports_sentence(const Comparison& found) {
    return fmt::format("service demand is {:.2f} times that of 2 ports", found.ratio.median);
}
std::string bare_sentence(const Comparison& found) {
    return fmt::format("service demand {} than that of the ports alone (TOE: virtually identical)",
                       lower_or_higher(found.ratio.median));
}
std::string follow_sentence(const Comparison& found) {
    return fmt::format("workers that follow the packets: service demand {} than unbound",
                       lower_or_higher(found.ratio.median));
}

struct Sentence {
    Subject about;
    Binding binding; ///< of the case; none: that of the usual case
    Say say;
};
constexpr auto sentences = std::to_array<Sentence>({
    {Subject::tso_demand, Binding::none, tso_sentence},
    {Subject::demand_by_ports, Binding::none, ports_sentence},
    {Subject::bare_demand, Binding::none, bare_sentence},
    {Subject::bound_demand, Binding::follow, follow_sentence},
});

} // namespace

std::vector<Headline> headlines(const Results& results) {
    const auto usual = usual_case(results);
    const auto basis = basis_of(results);
    const auto all = comparisons(results);
    std::vector<Headline> lines;
    for (const auto way : {Way::transmit, Way::receive, Way::both}) {
        const auto* measured = widest(results, usual, way);
        if (measured == nullptr) continue;
        const auto speed = spread_of(*measured, basis, throughput);
        if (!speed) continue;
        Headline line{.measured = measured,
                      .throughput = *speed,
                      .cpu = spread_of(*measured, basis, cpu),
                      .demand = spread_of(*measured, basis, service_demand)};
        for (const auto& comparison : all)
            if (comparison.about == Subject::single_sum && comparison.what == measured->what) {
                line.of_sum = comparison.ratio.median;
                line.papers_of_sum = papers_ratio(comparison);
            }
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> findings(const Results& results) {
    const auto all = comparisons(results);
    const auto usual = usual_case(results);
    std::vector<std::string> lines;
    for (const auto& [about, binding, say] : sentences)
        for (const auto way : {Way::transmit, Way::receive, Way::both}) {
            const auto wanted = binding == Binding::none ? usual.binding : binding;
            if (const auto* found = widest(all, about, usual, way, wanted))
                lines.push_back(fmt::format("{}, {}: {}", way_text(way),
                                            ctl::counted(found->what.ports, "port", "ports"), say(*found)));
        }
    return lines;
}

std::string repeatability(const std::vector<Comparison>& comparisons) {
    const auto repeated =
        std::ranges::count_if(comparisons, [](const Comparison& one) { return one.ratio.rounds > 1; });
    const auto agreeing = std::ranges::count_if(
        comparisons, [](const Comparison& one) { return one.ratio.rounds > 1 && agrees(one.ratio); });
    if (comparisons.empty()) return "no two cases compare";
    if (repeated == 0) return "one round: not known whether the ratios repeat";
    return fmt::format("{} of {} ratios agree within {:.0f} % over their rounds", agreeing, repeated,
                       100 * agreement);
}

std::string_view basis_text(Basis basis) {
    return basis == Basis::host ? "the measured host's own CPUs" : "the whole machine, with both ends";
}

std::string setting_text(const Results& results) {
    const auto& machine = results.machine;
    std::string ports = machine.driver.empty() ? "ports" : machine.driver + " ports";
    if (machine.link_mbits > 0) ports += fmt::format(" of {:.0f} Mbit/s", machine.link_mbits);
    if (!machine.shaped_by.empty()) ports += fmt::format(", shaped by {}", machine.shaped_by);
    return fmt::format("{}; {}; kernel {}; profile {}", ports, ctl::counted(machine.cpus, "CPU", "CPUs"),
                       machine.kernel, results.profile);
}

std::string rate_text(double mbits) {
    return mbits < 1000 ? fmt::format("{:.0f} Mbit/s", mbits) : fmt::format("{:.2f} Gbit/s", mbits / 1000);
}

} // namespace teamo::ctl::bench
