// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/result_tables.h"

#include "bench/papers.h"
#include "bench/summary.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

namespace teamo::bench {
namespace {

constexpr unsigned most_ports = 8; ///< of a team

const std::string dash = "-";

std::string cell(const Measured* measured, Basis basis, Figure figure) {
    const auto spread = measured == nullptr ? std::nullopt : spread_of(*measured, basis, figure);
    return spread ? fmt::format("{:.{}f}", spread->median, metric_of(figure).digits) : dash;
}

std::string percent(std::optional<double> share) {
    return share ? fmt::format("{:.0f} %", 100 * *share) : dash;
}

std::optional<double> share_of_sum(const std::vector<Comparison>& all, const Case& what) {
    const auto found = std::ranges::find_if(
        all, [&](const Comparison& one) { return one.about == Subject::single_sum && one.what == what; });
    return found == all.end() ? std::nullopt : std::optional(found->ratio.median);
}

bool is_empty(const std::string& cell) { return cell == dash; }

/// Removes the columns, except the first, in which no row has a value.
void drop_empty_columns(Table& table) {
    for (auto column = table.columns.size(); column-- > 1;) {
        if (!std::ranges::all_of(table.rows, [&](const Row& row) { return is_empty(row[column]); })) continue;
        const auto place = static_cast<std::ptrdiff_t>(column);
        table.columns.erase(table.columns.begin() + place);
        for (auto& row : table.rows)
            row.erase(row.begin() + place);
    }
}

/// Whether a case differs from the usual one in ports, way and TSO alone.
bool is_like(Case what, const Case& usual) {
    what.ports = usual.ports;
    what.way = usual.way;
    what.tso = usual.tso;
    return what == usual;
}

/// Of the items whose case is like the usual one, also in its TSO, and that fit, the one with the most ports;
/// nullptr: none.
template <class Item>
const Item* widest(const std::vector<Item>& items, const Case& usual, Way way, const auto& fits) {
    const Item* found = nullptr;
    for (const auto& item : items)
        if (item.what.way == way && item.what.tso == usual.tso && is_like(item.what, usual) && fits(item) &&
            (found == nullptr || item.what.ports > found->what.ports))
            found = &item;
    return found;
}

using Headlines = std::vector<const Measured*>;

/// For each way a usual case with the most ports.
Headlines headlines(const Results& results) {
    const auto usual = usual_case(results);
    Headlines lines;
    for (const auto way : all_ways) {
        const auto* measured =
            widest(results.cases, usual, way, [](const Measured& one) { return !one.rounds.empty(); });
        if (measured != nullptr && spread_of(*measured, basis_of(results), throughput))
            lines.push_back(measured);
    }
    return lines;
}

/// "with TSO on", which the headlines have if any case has it.
std::string tso_title(const Results& results) {
    return usual_case(results).tso ? "with TSO on" : "with TSO off";
}

/// Adds a row with a cell for each headline; only if one of them has a value.
void add_row(Table& table, std::string_view title, const Headlines& lines,
             const std::function<std::string(const Measured&)>& cell_of) {
    Row row{std::string(title)};
    for (const auto* line : lines)
        row.push_back(cell_of(*line));
    if (!std::all_of(row.begin() + 1, row.end(), is_empty)) table.rows.push_back(std::move(row));
}

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

void add_ratio_rows(Table& table, const RatioRow& wanted, const Headlines& lines, const Results& results) {
    const auto all = comparisons(results);
    auto like = usual_case(results);
    if (wanted.about == Subject::bound_demand) like.binding = Binding::follow;
    const auto is_wanted = [&](const Comparison& one) { return one.about == wanted.about; };
    const auto before = table.rows.size();
    add_row(table, wanted.title, lines, [&](const Measured& line) {
        const auto* found = widest(all, like, line.what.way, is_wanted);
        if (found == nullptr) return dash;
        const auto ratio = ratio_text(wanted.about, found->ratio.median);
        return found->what.ports == line.what.ports ? ratio
                                                    : fmt::format("{} by {}", ratio, found->what.ports);
    });
    if (wanted.papers_title.empty() || table.rows.size() == before) return;
    add_row(table, wanted.papers_title, lines, [&](const Measured& line) {
        auto what = line.what;
        if (wanted.about == Subject::tso_demand) what.ports = std::min(what.ports, 4U); // HP's most
        const auto ratio = papers_ratio(wanted.about, what);
        return ratio ? ratio_text(wanted.about, *ratio) : dash;
    });
}

} // namespace

Table summary_table(const Results& results) {
    const auto lines = headlines(results);
    const auto basis = basis_of(results);
    Table table{.title =
                    fmt::format("{}; CPU time of {}", setup_text(usual_case(results)), basis_text(results)),
                .columns = {tso_title(results)},
                .rows = {}};
    for (const auto* line : lines)
        table.columns.emplace_back(way_text(line->what.way));
    const auto add_figure = [&](std::string_view title, Figure figure) {
        add_row(table, title, lines, [&](const Measured& line) { return cell(&line, basis, figure); });
    };
    add_row(table, "ports", lines, [](const Measured& line) { return std::to_string(line.what.ports); });
    add_figure("throughput, Mbit/s", throughput);
    add_row(table, "- spread of the rounds", lines, [&](const Measured& line) {
        const auto [median, low, high, rounds] = *spread_of(line, basis, throughput);
        return rounds < 2 ? dash : fmt::format("{:.1f} %", 100 * (high - low) / median);
    });
    add_row(table, "limited by", lines,
            [](const Measured& line) { return std::string(limit_text(line.limit)); });
    add_figure("CPU, %", cpu);
    add_figure("- load generator, % of a CPU", process_cpu);
    add_figure("- daemon of the team, % of a CPU", daemon_cpu);
    add_figure("service demand, µs/KiB", service_demand);
    for (const auto& wanted : ratio_rows)
        add_ratio_rows(table, wanted, lines, results);
    add_figure("packets on the wire for each handled", packet_saving);
    add_row(table, "- HP TSO, counted: (40+20)/(1+20)", lines, [](const Measured& line) {
        return line.what.way == Way::transmit && line.what.tso
                   ? fmt::format("{:.1f}", hp_packets_without_tso / hp_packets_with_tso)
                   : dash;
    });
    return table;
}

Table ports_table(const Results& results) {
    Table table{.title = "by ways and ports, TSO on and off",
                .columns = {"way", "ports", "Mbit/s", "TSO off", "of sum", "APA", "CPU %", "µs/KiB", "limit"},
                .rows = {},
                .note =
                    "Mbit/s: with TSO on; of sum: of the single ports' sum; APA: the paper's share of it, "
                    "TSO off; CPU %: busy part of the CPUs counted, TSO on/off; µs/KiB: service demand, "
                    "CPU time for each KiB of payload (netperf), TSO on/off; limit: what kept it from "
                    "being faster. teamo-metrics(7) has all definitions."};
    const auto usual = usual_case(results);
    if (usual.load != Load::stream) return table;
    const auto all = comparisons(results);
    const auto basis = basis_of(results);
    for (const auto way : all_ways)
        for (unsigned ports = 1; ports <= most_ports; ++ports) {
            auto on = usual;
            on.way = way;
            on.ports = ports;
            auto off = on;
            on.tso = true;
            off.tso = false;
            const auto *with = find(results, on), *without = find(results, off);
            if (with == nullptr && without == nullptr) continue;
            const auto both = [&](Figure figure) {
                return fmt::format("{}/{}", cell(with, basis, figure), cell(without, basis, figure));
            };
            table.rows.push_back({std::string(way_text(way)), std::to_string(ports),
                                  cell(with, basis, throughput), cell(without, basis, throughput),
                                  percent(share_of_sum(all, usual.tso ? on : off)),
                                  percent(apa_of_sum(way, ports)), both(cpu), both(service_demand),
                                  std::string(limit_text((with != nullptr ? with : without)->limit))});
        }
    return table;
}

Table cases_table(const Results& results, bool all) {
    constexpr std::array figures{throughput, cpu,        service_demand, operations,
                                 file_time,  latency_50, latency_99};
    Table table{.title = all ? "cases" : "other cases", .columns = {"case"}, .rows = {}};
    for (const auto figure : figures)
        table.columns.push_back(fmt::format("{}, {}", metric_of(figure).title, metric_of(figure).unit));
    table.columns.emplace_back("limit");
    const auto usual = usual_case(results);
    std::vector<const Measured*> shown;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty() &&
            (all || measured.what.load != Load::stream || !is_like(measured.what, usual)))
            shown.push_back(&measured);
    // Beside each other what is compared, the ports alone first.
    if (all)
        std::ranges::stable_sort(shown, {}, [](const Measured* one) {
            return std::tuple(one->what.ports, one->what.way, one->what.over != Carrier::ports);
        });
    for (const auto* measured : shown) {
        Row row{case_text(measured->what)};
        for (const auto figure : figures)
            row.push_back(cell(measured, basis_of(results), figure));
        row.emplace_back(limit_text(measured->limit));
        table.rows.push_back(std::move(row));
    }
    drop_empty_columns(table);
    return table;
}

Table figures_table(const Results& results) {
    const auto lines = headlines(results);
    Table table{.title = "all figures", .columns = {tso_title(results)}, .rows = {}};
    if (lines.empty()) return table;
    Row ports{"ports"};
    for (const auto* line : lines) {
        table.columns.emplace_back(way_text(line->what.way));
        ports.push_back(std::to_string(line->what.ports));
    }
    table.columns.emplace_back("unit, paper");
    ports.emplace_back();
    table.rows.push_back(std::move(ports));
    for (const auto& metric : metrics()) {
        Row row{std::string(metric.key)};
        for (const auto* line : lines)
            row.push_back(cell(line, basis_of(results), metric.figure));
        if (std::all_of(row.begin() + 1, row.end(), is_empty)) continue;
        row.push_back(metric.paper.empty() ? std::string(metric.unit)
                                           : fmt::format("{}; {}", metric.unit, metric.paper));
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::vector<Table> comparison_tables(const Results& results) {
    std::vector<Table> tables;
    const auto all = comparisons(results);
    for (auto one = all.begin(); one != all.end(); ++one) {
        if (one == all.begin() || one->about != std::prev(one)->about)
            tables.push_back({.title = std::string(title_of(one->about)),
                              .columns = {"case", "ours", "lowest round", "highest round",
                                          fmt::format("rounds within {:.0f} %", 100 * agreement), "paper"},
                              .rows = {}});
        const auto ratio = [&](double value) { return ratio_text(one->about, value); };
        const auto paper = papers_ratio(one->about, one->what);
        tables.back().rows.push_back(
            {case_text(one->what), ratio(one->ratio.median), ratio(one->ratio.low), ratio(one->ratio.high),
             one->ratio.rounds < 2 ? dash
             : agrees(one->ratio)  ? std::string("yes")
                                   : "no: " + one->why,
             paper ? fmt::format("{} {}", paper_of(one->about), ratio(*paper)) : dash});
    }
    std::ranges::for_each(tables, drop_empty_columns);
    return tables;
}

std::vector<Table> cpu_tables(const Results& results) {
    std::vector<Table> tables;
    for (const auto* line : headlines(results)) {
        const auto cpus = shares_by_cpu(*line);
        const bool irq = has_irq(cpus);
        Table table{.title = fmt::format("CPU by CPU, % of its time: {}", case_text(line->what)),
                    .columns = {"CPU", "busy", "user", "system", "softirq", "irq"},
                    .rows = {}};
        const auto share = [](double part) { return fmt::format("{:.0f}", 100 * part); };
        for (const auto& [number, part] : cpus)
            table.rows.push_back({std::to_string(number), share(busy_share(part)), share(part.user),
                                  share(part.system), share(part.softirq), irq ? share(part.irq) : dash});
        drop_empty_columns(table);
        if (!table.rows.empty()) tables.push_back(std::move(table));
    }
    return tables;
}

Table cost_table(const Results& results, const Prices& prices) {
    const auto in_money = [&](std::string_view what) { return fmt::format("{}, {}", what, prices.currency); };
    Table table{
        .title = fmt::format("cost of {:g} servers with {:g} Gbit/s each, {:g} hours a year over {:g} "
                             "years, PUE {:g}",
                             prices.servers, prices.gbits, prices.hours, prices.years, prices.pue),
        .columns = {"case", "ways, weighted", "CPUs busy in a server", in_money("servers"), "kWh",
                    in_money("energy"), in_money("together")},
        .rows = {},
        .note = has_energy(results)
                    ? "The energy is that of the whole machine, with idle power and all ends that are on it."
                    : ""};
    for (const auto& [what, cost, ways] : weighted_costs(results, prices)) {
        std::vector<std::string> names;
        for (const auto way : ways)
            names.emplace_back(way_text(way));
        table.rows.push_back(
            {case_text(what), joined(names), fmt::format("{:.3f}", cost.cpus),
             fmt::format("{:.0f}", cost.servers), cost.kwh ? fmt::format("{:.0f}", *cost.kwh) : "no meter",
             cost.energy ? fmt::format("{:.0f}", *cost.energy) : dash, fmt::format("{:.0f}", cost.total())});
    }
    return table;
}

std::vector<std::string> lines_of_missing(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.skipped.empty())
            lines.push_back(fmt::format("not measured: {}: {}", case_text(measured.what), measured.skipped));
    std::ranges::move(failed_lines(results), std::back_inserter(lines));
    return lines;
}

json::Value document_of(const Table& table) {
    const auto texts = [](const Row& row) { return json::Array(row.begin(), row.end()); };
    json::Array rows;
    for (const auto& row : table.rows)
        rows.emplace_back(texts(row));
    return json::Object{{"title", table.title},
                        {"columns", texts(table.columns)},
                        {"rows", std::move(rows)},
                        {"note", table.note}};
}

} // namespace teamo::bench
