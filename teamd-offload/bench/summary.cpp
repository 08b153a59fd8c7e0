// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/summary.h"

#include "bench/papers.h"
#include "text/numbers.h"
#include "json/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace teamo::bench {
namespace {

/// With the most ports; nullptr: none.
const Measured* widest(const Results& results, const Case& usual, Way way) {
    const Measured* found = nullptr;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty() && measured.what.way == way && measured.what.tso == usual.tso &&
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
            comparison.what.tso == usual.tso &&
            (found == nullptr || comparison.what.ports > found->what.ports))
            found = &comparison;
    return found;
}

using Rows = std::vector<std::vector<std::string>>;
using Cell = std::function<std::string(const Headline&)>;

/// Adds a row; only if a cell has a value.
void add_row(Rows& rows, std::string_view title, const std::vector<Headline>& lines, const Cell& cell) {
    std::vector<std::string> row{std::string(title)};
    for (const auto& line : lines)
        row.push_back(cell(line));
    if (std::any_of(row.begin() + 1, row.end(), [](const auto& text) { return text != "-"; }))
        rows.push_back(std::move(row));
}

std::string median_cell(const std::optional<Spread>& spread, int digits) {
    return spread ? fmt::format("{:.{}f}", spread->median, digits) : "-";
}

constexpr std::array<std::pair<std::string_view, Figure>, 2> by_process{
    {{"- load generator, % of a CPU", process_cpu}, {"- daemon of the team, % of a CPU", daemon_cpu}}};

/// What a row shows of the comparisons, and the row below it of the paper.
struct RatioRow {
    Subject about;
    std::string_view title, papers_title; ///< papers_title: empty if no paper has a figure
};
constexpr auto ratio_rows = std::to_array<RatioRow>({
    {Subject::single_sum, "of the single ports' sum", "- APA, TSO off"},
    {Subject::tso_demand, "service demand, TSO on against off", "- HP TSO, 4 ports at most"},
    {Subject::demand_by_ports, "service demand against 2 ports", "- APA, TSO off"},
    {Subject::bare_demand, "service demand against the ports alone", ""},
    {Subject::bound_demand, "service demand, workers follow", ""},
});

void add_ratio_rows(Rows& rows, const RatioRow& wanted, const std::vector<Headline>& lines,
                    const Results& results) {
    const auto all = comparisons(results);
    const auto usual = usual_case(results);
    const auto binding = wanted.about == Subject::bound_demand ? Binding::follow : usual.binding;
    const auto before = rows.size();
    add_row(rows, wanted.title, lines, [&](const Headline& line) {
        const auto& what = line.measured->what;
        const auto* found = widest(all, wanted.about, usual, what.way, binding);
        if (found == nullptr) return std::string("-");
        const auto ratio = ratio_text(wanted.about, found->ratio.median);
        return found->what.ports == what.ports ? ratio : fmt::format("{} by {}", ratio, found->what.ports);
    });
    if (wanted.papers_title.empty() || rows.size() == before) return;
    add_row(rows, wanted.papers_title, lines, [&](const Headline& line) {
        auto what = line.measured->what;
        if (wanted.about == Subject::tso_demand) what.ports = std::min(what.ports, 4U); // HP's most
        const auto ratio = papers_ratio(wanted.about, what);
        return ratio ? ratio_text(wanted.about, *ratio) : "-";
    });
}

} // namespace

bool is_like(Case what, const Case& usual) {
    what.ports = usual.ports;
    what.way = usual.way;
    what.tso = usual.tso;
    return what == usual;
}

std::vector<Headline> headlines(const Results& results) {
    const auto usual = usual_case(results);
    const auto basis = basis_of(results);
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
        lines.push_back(line);
    }
    return lines;
}

bool was_measured(const Results& results) {
    return std::ranges::any_of(results.cases, [](const Measured& one) { return !one.rounds.empty(); });
}

std::string tso_title(const Results& results) {
    return usual_case(results).tso ? "with TSO on" : "with TSO off";
}

std::vector<std::vector<std::string>> headline_rows(const Results& results) {
    const auto lines = headlines(results);
    std::vector<std::string> titles{tso_title(results)};
    for (const auto& line : lines)
        titles.emplace_back(way_text(line.measured->what.way));
    Rows rows{std::move(titles)};
    add_row(rows, "ports", lines,
            [](const Headline& line) { return std::to_string(line.measured->what.ports); });
    add_row(rows, "throughput, Mbit/s", lines,
            [](const Headline& line) { return median_cell(line.throughput, 0); });
    add_row(rows, "- spread of the rounds", lines, [](const Headline& line) {
        const auto& [median, low, high, rounds] = line.throughput;
        return rounds < 2 ? "-" : fmt::format("{:.1f} %", 100 * (high - low) / median);
    });
    add_row(rows, "limited by", lines,
            [](const Headline& line) { return std::string(limit_text(line.measured->limit)); });
    add_row(rows, "CPU, %", lines, [](const Headline& line) { return median_cell(line.cpu, 0); });
    for (const auto& [title, figure] : by_process)
        add_row(rows, title, lines, [&, figure = figure](const Headline& line) {
            return median_cell(spread_of(*line.measured, basis_of(results), figure),
                               metric_of(figure).digits);
        });
    add_row(rows, "service demand, µs/KiB", lines,
            [](const Headline& line) { return median_cell(line.demand, 3); });
    for (const auto& wanted : ratio_rows)
        add_ratio_rows(rows, wanted, lines, results);
    add_row(rows, "packets on the wire for each handled", lines, [&](const Headline& line) {
        return median_cell(spread_of(*line.measured, basis_of(results), packet_saving), 1);
    });
    add_row(rows, "- HP TSO, counted: (40+20)/(1+20)", lines, [](const Headline& line) {
        return line.measured->what.way == Way::transmit && line.measured->what.tso
                   ? fmt::format("{:.1f}", hp_packets_without_tso / hp_packets_with_tso)
                   : "-";
    });
    return rows;
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

bool has_energy(const Results& results) {
    return std::ranges::any_of(results.cases, [&](const Measured& measured) {
        return spread_of(measured, basis_of(results), joules_per_gb).has_value();
    });
}

std::string_view energy_note(const Results& results) {
    if (!has_energy(results)) return "";
    return "The energy is that of the whole machine, with idle power and all ends that are on it.";
}

std::string_view no_energy_text(const Results& results) {
    return results.machine.meter_needs_root ? "the meter (RAPL) needs root" : "no meter (RAPL)";
}

std::string basis_text(const Results& results) {
    constexpr std::string_view both = "the whole machine, with both ends";
    if (basis_of(results) == Basis::machine) return std::string(both);
    const bool all = std::ranges::all_of(
        results.cases, [&](const Measured& measured) { return basis_of(results, measured) == Basis::host; });
    const std::string own = "the measured host's own CPUs";
    return all ? own : fmt::format("{}; with bound workers {}", own, both);
}

std::vector<std::string> failed_lines(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.failed.empty())
            lines.push_back(fmt::format("failed after {}: {}: {}",
                                        counted(measured.rounds.size(), "round", "rounds"),
                                        case_text(measured.what), measured.failed));
    return lines;
}

std::vector<Setting> settings_of(const Results& results) {
    const auto& machine = results.machine;
    std::string ports = machine.driver.empty() ? "ports" : machine.driver + " ports";
    if (machine.link_mbits > 0) ports += fmt::format(" of {:.0f} Mbit/s", machine.link_mbits);
    if (!machine.shaped_by.empty()) ports += fmt::format(", shaped by {}", machine.shaped_by);
    std::vector<Setting> list;
    const auto add = [&list](std::string_view name, const std::string& value) {
        list.push_back({name, value, fmt::format("{} {}", name, value)});
    };
    list.push_back({"ports", ports, ports});
    list.push_back({"CPUs", std::to_string(machine.cpus), counted(machine.cpus, "CPU", "CPUs")});
    add("kernel", machine.kernel);
    add("profile", results.profile);
    if (const auto found = machine.sysctls.find("net.ipv4.tcp_congestion_control");
        found != machine.sysctls.end())
        add("congestion control", json::printable(found->second));
    return list;
}

std::string setting_text(const Results& results) {
    const auto& machine = results.machine;
    std::vector<std::string> texts;
    for (auto& setting : settings_of(results))
        texts.push_back(std::move(setting.text));
    auto text = fmt::format("{}", fmt::join(texts, "; "));
    constexpr double little = 0.05;
    if (machine.other_work > little)
        text += fmt::format("; before the first round other programs kept {:.0f} % of the CPUs busy: the CPU "
                            "figures contain such work",
                            100 * machine.other_work);
    return text;
}

} // namespace teamo::bench
