// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/text.h"

#include "bench/papers.h"
#include "bench/summary.h"
#include "text/numbers.h"
#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace teamo::bench {
namespace {

constexpr std::size_t terminal_width = 80;

/// "7546", or "-".
std::string number_or_dash(const std::optional<Spread>& spread, int digits) {
    return spread ? fmt::format("{:.{}f}", spread->median, digits) : "-";
}

std::string figure_text(const Measured& measured, Basis basis, Figure figure) {
    return number_or_dash(spread_of(measured, basis, figure), metric_of(figure).digits);
}

std::string spread_text(const std::optional<Spread>& spread) {
    if (!spread || spread->rounds < 2 || spread->median <= 0) return "-";
    return fmt::format("{:.1f} %", 100 * (spread->high - spread->low) / spread->median);
}

std::string percent_or_dash(std::optional<double> share) {
    return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

/// Differs from the usual case in ports, way and TSO alone. Of other loads latencies and operations matter,
/// which this table does not have.
bool is_in_main_table(Case what, const Case& usual) {
    if (what.load != Load::stream) return false;
    what.ports = usual.ports;
    what.way = usual.way;
    what.tso = usual.tso;
    return what == usual;
}

Row main_row(const Measured& measured, const std::vector<Comparison>& all, Basis basis) {
    const auto& what = measured.what;
    std::optional<double> of_sum;
    for (const auto& one : all)
        if (one.about == Subject::single_sum && one.what == what) of_sum = one.ratio.median;
    return {std::string(way_text(what.way)),
            std::to_string(what.ports),
            what.tso ? "on" : "off",
            figure_text(measured, basis, throughput),
            spread_text(spread_of(measured, basis, throughput)),
            percent_or_dash(of_sum),
            percent_or_dash(apa_of_sum(what.way, what.ports)),
            figure_text(measured, basis, cpu),
            figure_text(measured, basis, service_demand),
            std::string(limit_text(measured.limit))};
}

/// Terminals may lack the "µ".
std::string ascii(std::string text) {
    constexpr std::string_view micro = "µ";
    for (auto found = text.find(micro); found != std::string::npos; found = text.find(micro))
        text.replace(found, micro.size(), "u");
    return text;
}

std::string headline_table(const Results& results) {
    auto rows = headline_rows(results);
    if (rows.size() < 2) return was_measured(results) ? "" : "nothing was measured\n";
    const auto titles = rows.front();
    rows.erase(rows.begin());
    for (auto& row : rows)
        for (auto& cell : row)
            cell = ascii(cell);
    return teamo::table_of(titles, std::move(rows));
}

constexpr std::string_view short_definitions =
    "spread: highest less lowest round, by the median; of sum: of the single ports' sum; APA: the paper's "
    "share "
    "of it, TSO off; CPU %: busy part of the CPUs counted; us/KiB: service demand, CPU time for each KiB of "
    "payload "
    "(netperf); limit: what kept it from being faster. teamo-metrics(7) has all definitions.\n";

std::string main_table(const Results& results, const std::vector<Comparison>& all) {
    const auto usual = usual_case(results);
    std::vector<const Measured*> shown;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty() && is_in_main_table(measured.what, usual)) shown.push_back(&measured);
    if (shown.empty()) return "";
    std::ranges::stable_sort(shown, {}, [](const Measured* one) {
        return std::tuple(one->what.way, one->what.ports, !one->what.tso);
    });
    std::vector<Row> rows;
    for (const auto* measured : shown)
        rows.push_back(main_row(*measured, all, basis_of(results)));
    return "\n" +
           table_of({"way", "ports", "TSO", "Mbit/s", "spread", "of sum", "APA", "CPU %", "us/KiB", "limit"},
                    std::move(rows)) +
           std::string(short_definitions);
}

/// All that is not in the main table: what a case is takes a line of its own, to fit the width.
std::string other_table(const Results& results) {
    const auto usual = usual_case(results);
    const auto basis = basis_of(results);
    std::string text;
    for (const auto& measured : results.cases) {
        if (measured.rounds.empty() || is_in_main_table(measured.what, usual)) continue;
        text += case_text(measured.what) + ":\n   ";
        std::vector<Figure> figures{throughput, cpu, service_demand};
        if (measured.what.load != Load::stream)
            figures = {operations, file_time, latency_50, latency_99, cpu};
        for (const auto figure : figures)
            if (const auto spread = spread_of(measured, basis, figure))
                text += fmt::format(" {} {:.{}f} {};", metric_of(figure).title, spread->median,
                                    metric_of(figure).digits, metric_of(figure).unit);
        text += fmt::format(" limit {}\n", limit_text(measured.limit));
    }
    return text.empty() ? text : "\nother cases:\n" + text;
}

std::string ratio_lines(const std::vector<Comparison>& all) {
    std::string text;
    std::optional<Subject> last;
    for (const auto& one : all) {
        if (one.about != last) text += fmt::format("{}\n", title_of(one.about));
        last = one.about;
        text += fmt::format("  {}: {}", case_text(one.what), ratio_text(one));
        if (const auto paper = papers_ratio(one))
            text += fmt::format("; {} {}", paper_of(one.about), ratio_text(one.about, *paper));
        text += one.why.empty() ? "\n" : fmt::format("; rounds differ: {}\n", one.why);
    }
    return text;
}

/// All that is known of the headlines, by the names of teamo-metrics(7).
std::string figures_table(const Results& results) {
    const auto lines = headlines(results);
    if (lines.empty()) return "";
    const auto basis = basis_of(results);
    Row titles{tso_title(results)}, ports{"ports"};
    for (const auto& line : lines) {
        titles.emplace_back(way_text(line.measured->what.way));
        ports.push_back(std::to_string(line.measured->what.ports));
    }
    titles.emplace_back("unit, paper");
    ports.emplace_back();
    std::vector<Row> rows{std::move(ports)};
    for (const auto& metric : metrics()) {
        Row row{std::string(metric.key)};
        for (const auto& line : lines)
            row.push_back(number_or_dash(spread_of(*line.measured, basis, metric.figure), metric.digits));
        if (std::all_of(row.begin() + 1, row.end(), [](const auto& cell) { return cell == "-"; })) continue;
        row.push_back(metric.paper.empty() ? std::string(metric.unit)
                                           : fmt::format("{}; {}", metric.unit, metric.paper));
        rows.push_back(std::move(row));
    }
    return "\nall figures:\n" + table_of(titles, std::move(rows));
}

std::string energy_line(const Results& results) {
    for (const auto& measured : results.cases)
        if (const auto joules = spread_of(measured, basis_of(results), joules_per_gb))
            return fmt::format("energy: {:.1f} J/GB, {}\n", joules->median, case_text(measured.what));
    return fmt::format("energy: {}\n", no_energy_text(results));
}

/// A line for each CPU, of the headlines.
std::string cpu_table(const Results& results) {
    Row titles{"CPU"};
    std::map<unsigned, Row> rows;
    bool irq = false;
    const auto lines = headlines(results);
    for (const auto& line : lines)
        irq = irq || has_irq(shares_by_cpu(*line.measured));
    for (const auto& line : lines) {
        const auto& what = line.measured->what;
        titles.push_back(fmt::format("{}, {}", way_text(what.way), counted(what.ports, "port", "ports")));
        for (const auto& [number, part] : shares_by_cpu(*line.measured)) {
            auto& row = rows[number];
            row.resize(titles.size(), "-");
            row.front() = std::to_string(number);
            row.back() = fmt::format("{:.0f}: {:.0f}/{:.0f}/{:.0f}", 100 * busy_share(part), 100 * part.user,
                                     100 * part.system, 100 * part.softirq);
            if (irq) row.back() += fmt::format("/{:.0f}", 100 * part.irq);
        }
    }
    std::vector<Row> all;
    for (auto& [number, row] : rows) {
        row.resize(titles.size(), "-");
        all.push_back(std::move(row));
    }
    if (all.empty()) return "";
    return fmt::format("\nCPU by CPU, % of its time, as busy: user/system/softirq{}\n{}", irq ? "/irq" : "",
                       table_of(titles, std::move(all)));
}

/// Rules cost CPU time for each packet.
std::string nftables_line(const Results& results) {
    const auto& rules = results.machine.nftables;
    return rules.empty() || rules == "none" ? "" : fmt::format("nftables: {}\n", rules);
}

std::string cost_lines(const Results& results, const std::optional<Prices>& prices) {
    if (!prices) return "cost: no price table\n";
    std::string text = fmt::format("cost of {:g} servers with {:g} Gbit/s each over {:g} years:\n",
                                   prices->servers, prices->gbits, prices->years);
    for (const auto& [what, cost, ways] : weighted_costs(results, *prices)) {
        std::vector<std::string> names;
        for (const auto way : ways)
            names.emplace_back(way_text(way));
        const auto energy = cost.kwh ? fmt::format("{:.0f} kWh", *cost.kwh) : std::string("no meter");
        text += fmt::format("  {} ({}): {:.0f} {}; {}\n", case_text(what), joined(names), cost.total(),
                            prices->currency, energy);
    }
    const auto note = energy_note(results);
    return note.empty() ? text : fmt::format("{}  {}\n", text, note);
}

std::string lines_of_missing(const Results& results) {
    std::string text;
    for (const auto& measured : results.cases)
        if (!measured.skipped.empty())
            text += fmt::format("not measured: {}: {}\n", case_text(measured.what), measured.skipped);
    for (const auto& line : failed_lines(results))
        text += line + "\n";
    return text;
}

/// Breaks lines at blanks; a continued line is indented by two more than its first. Terminals may lack the
/// "µ".
std::string for_terminal(const std::string& text) {
    std::string out;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        auto line = ascii(text.substr(start, end - start));
        const auto indent = std::string(std::min(line.find_first_not_of(' '), line.size()) + 2, ' ');
        while (line.size() > terminal_width) {
            const auto blank = line.rfind(' ', terminal_width);
            if (blank == std::string::npos || blank < indent.size()) break;
            out += line.substr(0, blank) + "\n";
            line = indent + line.substr(blank + 1);
        }
        out += line + "\n";
        start = end + 1;
    }
    return out;
}

} // namespace

std::string results_text(const Results& results, const std::optional<Prices>& prices) {
    const auto all = comparisons(results);
    auto text = fmt::format("{}\n{}\nCPU time of {}\n\n", setting_text(results),
                            setup_text(usual_case(results)), basis_text(results));
    text +=
        headline_table(results) + main_table(results, all) + other_table(results) + figures_table(results);
    if (!all.empty()) text += "\n" + ratio_lines(all);
    text += fmt::format("\nrepeatability: {}\n", repeatability(all));
    text += cpu_table(results) + nftables_line(results) + energy_line(results) + cost_lines(results, prices) +
            lines_of_missing(results);
    return for_terminal(text);
}

std::string disagreements_text(const Results& first, const Results& second) {
    std::string text;
    const auto differs = [&](std::string_view what, const std::string& before, const std::string& after) {
        if (before != after) text += fmt::format("other {}: {}, then {}\n", what, before, after);
    };
    differs("machine", first.machine.cpu, second.machine.cpu);
    const auto others = settings_of(second);
    for (const auto& [name, value, whole] : settings_of(first))
        if (const auto other = std::ranges::find(others, name, &Setting::name); other != others.end())
            differs(name, value, other->value);
    differs("CPU time", basis_text(first), basis_text(second));
    differs("program", first.machine.version, second.machine.version);
    const auto [compared, differences] = agreement_of(first, second);
    if (compared == 0)
        text += "the two runs have no ratio in common\n";
    else if (differences.empty())
        text += fmt::format("the two runs agree within {:.0f} % on all ratios that both have: {}\n",
                            100 * agreement, compared);
    for (const auto& [before, after, why] : differences)
        text += fmt::format("{}, {}: {}, then {}: {}\n", title_of(before.about), case_text(before.what),
                            ratio_text(before.about, before.ratio.median),
                            ratio_text(after.about, after.ratio.median), why);
    return for_terminal(text);
}

} // namespace teamo::bench
