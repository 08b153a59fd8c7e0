// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/compare.h"
#include "bench/html/sections.h"
#include "bench/papers.h"
#include "bench/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::bench::html {
namespace {

struct FigureTable {
    std::string_view caption;
    std::vector<Figure> figures;
};

const std::vector<FigureTable>& figure_tables() {
    static const std::vector<FigureTable> tables{
        {"Speed and CPU",
         {throughput, cpu, cpu_user, cpu_system, cpu_softirq, process_cpu, daemon_cpu, far_daemon_cpu,
          service_demand, far_service_demand, process_demand, far_process_demand, pe_index}},
        {"Packets",
         {tx_packets, tx_skbs, tx_skb_bytes, rx_packets, rx_skbs, rx_skb_bytes, fullest_port, packet_saving,
          io_by_size, io_measured, io_time}},
        {"Time, energy and the machine",
         {gigabyte_time, file_time, operations, latency_50, latency_90, latency_99, latency_99_9,
          joules_per_gb, own_speed}},
    };
    return tables;
}

std::string case_figure(const Measured& measured, Basis basis, Figure figure) {
    const auto spread = spread_of(measured, basis, figure);
    return spread ? fmt::format("{:.{}f}", spread->median, metric_of(figure).digits) : "–";
}

/// Columns without any figure are left out.
Table table_of_figures(const Results& results, const FigureTable& wanted) {
    const auto basis = basis_of(results);
    Table table{.caption = fmt::format("{}: medians of the rounds", wanted.caption), .titles = {"case"}};
    std::vector<Figure> shown;
    for (const auto figure : wanted.figures) {
        const auto has = [&](const Measured& measured) {
            return spread_of(measured, basis, figure).has_value();
        };
        if (!std::ranges::any_of(results.cases, has)) continue;
        shown.push_back(figure);
        table.titles.push_back(fmt::format("{} ({})", metric_of(figure).title, metric_of(figure).unit));
    }
    table.titles.emplace_back("limited by");
    for (const auto& measured : results.cases) {
        if (measured.rounds.empty()) continue;
        std::vector<std::string> row{case_text(measured.what)};
        for (const auto figure : shown)
            row.push_back(case_figure(measured, basis, figure));
        row.emplace_back(limit_text(measured.limit));
        table.rows.push_back(std::move(row));
    }
    return shown.empty() ? Table{} : table;
}

Markup entry(std::string_view term, const Markup& meaning) {
    return element("dt", term) + element("dd", meaning) + Markup::verbatim("\n");
}

std::string or_not_known(const std::string& text) { return text.empty() ? "not known" : text; }

} // namespace

Markup figures_part(const Results& results) {
    Markup content;
    for (const auto& wanted : figure_tables()) {
        const auto table = table_of_figures(results, wanted);
        if (!table.rows.empty()) content += element("div", {{"class", "wide"}}, markup_of(table));
    }
    if (!has_energy(results)) content += element("p", fmt::format("Energy: {}.", no_energy_text(results)));
    return content;
}

Markup money_part(const Results& results, const std::optional<Prices>& prices) {
    if (!prices)
        return element("p", "No price table was given. With --prices FILE the cost over the years is "
                            "shown; teamo-metrics(7) has the keys.");
    Table table{.caption = fmt::format(
                    "{:g} servers with {:g} Gbit/s each, {:g} hours a year over {:g} years, PUE {:g}",
                    prices->servers, prices->gbits, prices->hours, prices->years, prices->pue),
                .titles = {"case", "ways, weighted", "CPUs busy in a server",
                           fmt::format("servers, {}", prices->currency), "kWh",
                           fmt::format("energy, {}", prices->currency),
                           fmt::format("together, {}", prices->currency)}};
    for (const auto& [what, cost, ways] : weighted_costs(results, *prices)) {
        std::vector<std::string_view> names;
        for (const auto way : ways)
            names.push_back(way_text(way));
        table.rows.push_back(
            {case_text(what), fmt::format("{}", fmt::join(names, ", ")), fmt::format("{:.3f}", cost.cpus),
             fmt::format("{:.0f}", cost.servers), cost.kwh ? fmt::format("{:.0f}", *cost.kwh) : "no meter",
             cost.energy ? fmt::format("{:.0f}", *cost.energy) : "–", fmt::format("{:.0f}", cost.total())});
    }
    const auto note = energy_note(results);
    return markup_of(table) + (note.empty() ? Markup() : element("p", note));
}

Markup machine_part(const Results& results) {
    const auto& machine = results.machine;
    Markup list =
        entry("kernel", or_not_known(machine.kernel)) +
        entry("CPU", fmt::format("{} x {}", machine.cpus, or_not_known(machine.cpu))) +
        entry("driver of the ports", or_not_known(machine.driver)) +
        entry("speed of a port",
              machine.link_mbits > 0 ? fmt::format("{:.0f} Mbit/s", machine.link_mbits) : "not known") +
        entry("shaped by", machine.shaped_by.empty() ? "nothing" : machine.shaped_by) +
        entry("nftables", or_not_known(machine.nftables)) + entry("teamo-bench", or_not_known(machine.version)) +
        entry("date", or_not_known(machine.date)) + entry("profile", or_not_known(results.profile)) +
        entry("CPU time", basis_text(results));
    for (const auto& [name, value] : machine.sysctls)
        list += entry(name, value);
    return element("dl", list);
}

Markup definitions_part() {
    Markup list;
    for (const auto& metric : metrics())
        list += entry(fmt::format("{} ({})", metric.title, metric.unit),
                      metric.paper.empty() ? std::string(metric.definition)
                                           : fmt::format("{} Paper: {}.", metric.definition, metric.paper));
    list += entry("rounds",
                  "A figure is the median of its rounds, with the lowest and the highest beside it. A ratio "
                  "is made round by round; it repeats if each round is within 5 % of the median.");
    return element("dl", list);
}

Markup papers_part() {
    Markup list;
    for (const auto& paper : papers())
        list += entry(paper.key, fmt::format("{} {}", paper.about, paper.found));
    return element("dl", list);
}

} // namespace teamo::bench::html
