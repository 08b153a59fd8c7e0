// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/papers.h"
#include "bench/summary.h"
#include "bench/text.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace teamo::bench {
namespace {

constexpr unsigned max_shown_ports = 8; ///< a team has no more

/// A cell must not end its column, nor start markup.
std::string markdown_cell(std::string_view text) {
    std::string cell;
    for (const char one : text) {
        if (std::string_view("\\`*_{}[]<>#|").find(one) != std::string_view::npos) cell += '\\';
        cell += one == '\n' ? ' ' : one;
    }
    return cell;
}

std::string figure_cell(const Measured* measured, Basis basis, Figure figure) {
    if (measured == nullptr) return "-";
    const auto spread = spread_of(*measured, basis, figure);
    return spread ? fmt::format("{:.{}f}", spread->median, metric_of(figure).digits) : "-";
}

std::string share_cell(const std::vector<Comparison>& all, const Case& what) {
    const auto* found = comparison_of(all, Subject::single_sum, what);
    return found == nullptr ? "-" : fmt::format("{:.0f} %", 100 * found->ratio.median);
}

std::string markdown_row(const Results& results, const std::vector<Comparison>& all, const Case& what,
                         std::size_t number) {
    const auto basis = basis_of(results);
    auto on = what, off = what;
    on.tso = true;
    off.tso = false;
    const auto* with = find(results, on);
    const auto* without = find(results, off);
    if (with == nullptr && without == nullptr) return "";
    const auto apa = apa_of_sum(what.way, what.ports);
    return fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} / {} | {} / {} | {} |\n", number, way_text(what.way),
        what.ports, figure_cell(with, basis, throughput), figure_cell(without, basis, throughput),
        share_cell(all, what), apa ? fmt::format("{:.0f} %", 100 * *apa) : "-", figure_cell(with, basis, cpu),
        figure_cell(without, basis, cpu), figure_cell(with, basis, service_demand),
        figure_cell(without, basis, service_demand), limit_text((with != nullptr ? with : without)->limit));
}

/// The usual case over everything that was measured, ports alone first; only if there is more than our team
/// with one datapath, or if that was the question.
std::vector<Case> carriers_of(const Results& results) {
    auto wanted = usual_case(results);
    std::vector<Case> list;
    for (const auto& measured : results.cases) {
        wanted.over = measured.what.over;
        wanted.datapath = measured.what.datapath;
        wanted.ports = measured.what.ports;
        wanted.way = measured.what.way;
        if (measured.what == wanted && !measured.rounds.empty()) list.push_back(wanted);
    }
    const auto is_usual = [&](const Case& what) {
        return what.over == Carrier::ports ||
               (what.over == Carrier::team && what.datapath == list[0].datapath);
    };
    if (results.profile != "peers" && std::ranges::all_of(list, is_usual)) return {};
    std::ranges::stable_sort(list, {}, [](const Case& what) {
        return std::tuple(what.ports, what.way, what.over != Carrier::ports);
    });
    return list;
}

std::string peers_row(const Results& results, const std::vector<Comparison>& all, const Case& what,
                      std::size_t number) {
    const auto basis = basis_of(results);
    const auto* measured = find(results, what);
    const auto against = [&](Subject about) -> std::string {
        const auto* found = comparison_of(all, about, what);
        return found == nullptr ? "-" : ratio_text(*found);
    };
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", number, what.ports, way_text(what.way),
                       markdown_cell(carrier_words(what)), figure_cell(measured, basis, throughput),
                       figure_cell(measured, basis, service_demand), against(Subject::bare_demand),
                       against(Subject::bare_throughput));
}

/// The peers of those results that have any.
std::string peers_table(std::span<const Results> results) {
    std::string rows;
    for (std::size_t index = 0; index < results.size(); ++index) {
        const auto all = comparisons(results[index]);
        for (const auto& what : carriers_of(results[index]))
            rows += peers_row(results[index], all, what, index + 1);
    }
    if (rows.empty()) return "";
    return "\n| machine | ports | way | over | Mbit/s | µs/KiB | service demand, against the ports alone | "
           "throughput |\n|---|--:|---|---|--:|--:|--:|--:|\n" +
           rows;
}

std::string_view binding_words(Binding binding) {
    switch (binding) {
    case Binding::unbound: return "placed by the scheduler";
    case Binding::follow: return "follow the packets";
    case Binding::cross: return "bound crosswise";
    case Binding::none: break;
    }
    return "";
}

std::string binding_row(const Results& results, const std::vector<Comparison>& all, const Measured& measured,
                        std::size_t number) {
    const auto basis = basis_of(results);
    const auto* against = comparison_of(all, Subject::bound_demand, measured.what);
    return fmt::format("| {} | {} | {} | {} | {} | {} |\n", number, way_text(measured.what.way),
                       binding_words(measured.what.binding), figure_cell(&measured, basis, throughput),
                       figure_cell(&measured, basis, service_demand),
                       against == nullptr ? "-" : ratio_text(*against));
}

/// What binding workers brought, where it was measured.
std::string binding_table(std::span<const Results> results) {
    std::string rows;
    for (std::size_t index = 0; index < results.size(); ++index) {
        const auto all = comparisons(results[index]);
        std::vector<const Measured*> shown;
        for (const auto& measured : results[index].cases)
            if (measured.what.binding != Binding::none && !measured.rounds.empty())
                shown.push_back(&measured);
        std::ranges::stable_sort(shown, {}, [](const Measured* one) { return one->what.way; });
        for (const auto* measured : shown)
            rows += binding_row(results[index], all, *measured, index + 1);
    }
    if (rows.empty()) return "";
    return "\n| machine | way | workers | Mbit/s | µs/KiB | service demand, against the scheduler's placing "
           "|\n|---|---|---|--:|--:|--:|\n" +
           rows;
}

} // namespace

std::string markdown_table(std::span<const Results> results) {
    std::string table = "| machine | way | ports | Mbit/s, TSO on | TSO off | of the single ports' sum | "
                        "APA, TSO off | CPU %, TSO on "
                        "/ off | µs/KiB, TSO on / off | limit |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n";
    std::string machines;
    for (std::size_t index = 0; index < results.size(); ++index) {
        const auto& one = results[index];
        const auto all = comparisons(one);
        // These have a table of their own.
        const bool is_by_ports = one.profile != "peers" && one.profile != "binding";
        for (const auto way : {Way::transmit, Way::receive, Way::both})
            for (unsigned ports = 1; is_by_ports && ports <= max_shown_ports; ++ports) {
                auto what = usual_case(one);
                what.way = way;
                what.ports = ports;
                table += markdown_row(one, all, what, index + 1);
            }
        machines += fmt::format("{}. {}; {}; {}; CPU time: {}; teamo-bench {}; {}\n", index + 1,
                                markdown_cell(setup_text(usual_case(one))), markdown_cell(setting_text(one)),
                                markdown_cell(one.machine.cpu), basis_text(one),
                                markdown_cell(one.machine.version), markdown_cell(one.machine.date));
    }
    return table + peers_table(results) + binding_table(results) + "\n" + machines;
}

} // namespace teamo::bench
