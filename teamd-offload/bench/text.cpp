// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/text.h"

#include "bench/result_tables.h"
#include "bench/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::bench {
namespace {

constexpr std::size_t terminal_width = 80;

/// Terminals may lack the "µ".
std::string ascii(std::string text) {
    constexpr std::string_view micro = "µ";
    for (auto found = text.find(micro); found != std::string::npos; found = text.find(micro))
        text.replace(found, micro.size(), "u");
    return text;
}

/// Breaks lines at blanks; a continued line is indented by two more than its first.
std::string wrapped(const std::string& text) {
    std::string out;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        auto line = text.substr(start, end - start);
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

std::string in_columns(const Table& table) {
    auto columns = table.columns;
    auto rows = table.rows;
    std::ranges::transform(columns, columns.begin(), ascii);
    for (auto& row : rows)
        std::ranges::transform(row, row.begin(), ascii);
    return teamo::table_of(columns, std::move(rows));
}

/// A line for each row, with the name of each cell: for a table that is wider than the terminal.
std::string in_lines(const Table& table) {
    std::string text;
    for (const auto& row : table.rows) {
        text += fmt::format("  {}:", row.front());
        for (std::size_t column = 1; column < row.size(); ++column)
            if (row[column] != "-") text += fmt::format(" {} {};", table.columns[column], row[column]);
        text.back() = '\n';
    }
    return wrapped(ascii(text));
}

std::string text_of(const Table& table) {
    if (table.rows.empty()) return "";
    auto text = in_columns(table);
    if (text.find('\n') > terminal_width) text = in_lines(table);
    return table.note.empty() ? text : text + wrapped(ascii(table.note) + "\n");
}

std::string section(const Table& table) {
    return table.rows.empty() ? "" : "\n" + wrapped(ascii(table.title) + ":\n") + text_of(table);
}

/// Rules cost CPU time for each packet.
std::string nftables_line(const Results& results) {
    const auto& rules = results.machine.nftables;
    return rules.empty() || rules == "none" ? "" : fmt::format("nftables: {}\n", rules);
}

std::string energy_line(const Results& results) {
    for (const auto& measured : results.cases)
        if (const auto joules = spread_of(measured, basis_of(results), joules_per_gb))
            return fmt::format("energy: {:.1f} J/GB, {}\n", joules->median, case_text(measured.what));
    return fmt::format("energy: {}\n", no_energy_text(results));
}

/// A cell must not end its column, nor start markup.
std::string markdown_of(std::string_view text) {
    std::string cell;
    for (const char one : text) {
        if (std::string_view("\\`*_{}[]<>#|").find(one) != std::string_view::npos) cell += '\\';
        cell += one == '\n' ? ' ' : one;
    }
    return cell;
}

std::string markdown_row(const Row& row) {
    std::string text = "|";
    for (const auto& cell : row)
        text += fmt::format(" {} |", markdown_of(cell));
    return text + "\n";
}

std::string markdown_of(const Table& table, bool titled) {
    if (table.rows.empty()) return "";
    auto text = titled ? fmt::format("\n{}:\n\n", markdown_of(table.title)) : "\n";
    text += markdown_row(table.columns) + "|---|";
    for (std::size_t column = 1; column < table.columns.size(); ++column)
        text += "--:|";
    text += "\n";
    for (const auto& row : table.rows)
        text += markdown_row(row);
    return text;
}

} // namespace

std::string results_text(const Results& results, const std::optional<Prices>& prices) {
    const auto summary = summary_table(results);
    auto text = wrapped(ascii(fmt::format("{}\n{}\n\n", setting_text(results), summary.title)));
    text += was_measured(results) ? text_of(summary) : "nothing was measured\n";
    text += section(ports_table(results)) + section(cases_table(results, /*all=*/false)) +
            section(figures_table(results));
    for (const auto& table : comparison_tables(results))
        text += section(table);
    text += fmt::format("\nrepeatability: {}\n", repeatability(comparisons(results)));
    for (const auto& table : cpu_tables(results))
        text += section(table);
    auto rest = nftables_line(results) + energy_line(results);
    if (!prices) rest += "cost: no price table\n";
    for (const auto& line : lines_of_missing(results))
        rest += line + "\n";
    if (prices) text += section(cost_table(results, *prices));
    return text + "\n" + wrapped(ascii(rest));
}

std::string markdown_text(std::span<const Results> all) {
    std::string text, notes;
    for (const auto& results : all) {
        const auto& machine = results.machine;
        if (!text.empty()) text += "\n";
        text += fmt::format("{}; {}; CPU time of {}; teamo-bench {}; {}.\n",
                            markdown_of(setting_text(results)), markdown_of(machine.cpu), basis_text(results),
                            markdown_of(machine.version), markdown_of(machine.date));
        const auto by_ports = ports_table(results);
        if (results.profile != "peers" && results.profile != "binding") {
            text += markdown_of(by_ports, /*titled=*/false);
            notes = "\n" + markdown_of(by_ports.note) + "\n";
            continue;
        }
        text += markdown_of(cases_table(results, /*all=*/true), true);
        for (const auto& table : comparison_tables(results))
            text += markdown_of(table, true);
    }
    return text + notes;
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
    return wrapped(ascii(text));
}

} // namespace teamo::bench
