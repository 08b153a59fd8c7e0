// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/papers.h"
#include "ctl/bench/summary.h"
#include "ctl/bench/text.h"
#include "ctl/units.h"

#include <fmt/format.h>

namespace teamo::ctl::bench {
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
    for (const auto& one : all)
        if (one.about == Subject::single_sum && one.what == what)
            return fmt::format("{:.0f} %", 100 * one.ratio.median);
    return "-";
}

std::string markdown_row(const Results& results, const std::vector<Comparison>& all, const Case& what,
                         std::size_t number) {
    const auto basis = basis_of(results);
    auto off = what;
    off.tso = false;
    const auto* with = find(results, what);
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

} // namespace

std::string markdown_table(std::span<const Results> results) {
    std::string table = "| machine | way | ports | Mbit/s, TSO on | TSO off | of the single ports' sum | "
                        "APA, TSO off | CPU %, TSO on "
                        "/ off | µs/KiB, TSO on / off | limit |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n";
    std::string machines;
    for (std::size_t index = 0; index < results.size(); ++index) {
        const auto& one = results[index];
        const auto all = comparisons(one);
        for (const auto way : {Way::transmit, Way::receive, Way::both})
            for (unsigned ports = 1; ports <= max_shown_ports; ++ports) {
                auto what = usual_case(one);
                what.way = way;
                what.ports = ports;
                table += markdown_row(one, all, what, index + 1);
            }
        machines += fmt::format("{}. {}; {}; {}; CPU time: {}; {}\n", index + 1,
                                markdown_cell(setup_text(usual_case(one))), markdown_cell(setting_text(one)),
                                markdown_cell(one.machine.cpu), basis_text(basis_of(one)),
                                markdown_cell(one.machine.date));
    }
    return table + "\n" + machines;
}

} // namespace teamo::ctl::bench
