// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/html/sections.h"

#include "ctl/bench/html/chart.h"
#include "ctl/bench/html/charts.h"
#include "ctl/bench/papers.h"
#include "ctl/bench/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl::bench::html {
namespace {

std::string share_text(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : "–";
}

std::string median_text(const std::optional<Spread>& spread, int digits, std::string_view unit) {
    return spread ? fmt::format("{:.{}f} {}", spread->median, digits, unit) : "–";
}

Table headline_table(const Results& results) {
    Table table{.caption = fmt::format("{}; CPU time of {}", case_text(usual_case(results)),
                                       basis_text(basis_of(results))),
                .titles = {"", "throughput", "CPU", "service demand", "limited by",
                           "of the single ports' sum", "APA's share"}};
    table.titles.front() = "way";
    for (const auto& line : headlines(results))
        table.rows.push_back(
            {fmt::format("{}, {} ports", way_text(line.measured->what.way), line.measured->what.ports),
             rate_text(line.throughput.median), median_text(line.cpu, 0, "%"),
             median_text(line.demand, 2, "µs/KiB"), std::string(limit_text(line.measured->limit)),
             share_text(line.of_sum), share_text(line.papers_of_sum)});
    return table;
}

Markup list_of(const std::vector<std::string>& lines) {
    Markup items;
    for (const auto& line : lines)
        items += element("li", line);
    return lines.empty() ? Markup() : element("ul", items) + Markup::verbatim("\n");
}

Markup chart_markup(const Chart& chart) {
    const auto drawing = element("figure", drawing_of(chart));
    return element("h3", {{"id", chart.id}}, chart.title) + element("p", {{"class", "lead"}}, chart.lead) +
           element("div", {{"class", "chart"}}, drawing + markup_of(html::table_of(chart)));
}

Table comparison_table(Subject about, const std::vector<Comparison>& all) {
    Table table{.caption = std::string(title_of(about)),
                .titles = {"case", "ours", "lowest round", "highest round", "rounds within 5 %"}};
    const bool has_paper = std::ranges::any_of(
        all, [&](const Comparison& one) { return one.about == about && papers_ratio(one); });
    if (has_paper) table.titles.emplace_back(paper_of(about));
    for (const auto& one : all) {
        if (one.about != about) continue;
        const auto& ratio = one.ratio;
        std::vector<std::string> row{case_text(one.what), ratio_text(about, ratio.median),
                                     ratio_text(about, ratio.low), ratio_text(about, ratio.high),
                                     ratio.rounds < 2 ? "one round"
                                     : agrees(ratio)  ? "yes"
                                                      : "no: " + one.why};
        const auto paper = papers_ratio(one);
        if (has_paper) row.push_back(paper ? ratio_text(about, *paper) : "–");
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

Markup section(std::string_view title, const Markup& content) {
    if (content.empty()) return {};
    return element("section", element("h2", title) + Markup::verbatim("\n") + content) +
           Markup::verbatim("\n");
}

Markup first_screen(const Results& results) {
    const auto all = comparisons(results);
    auto lines = findings(results);
    lines.push_back("repeatability: " + repeatability(all));
    const auto table = headline_table(results);
    const auto content = element("h2", "In short") +
                         (table.rows.empty() ? element("p", "Nothing was measured.") : markup_of(table)) +
                         list_of(lines);
    return element("section", {{"class", "first"}}, content) + Markup::verbatim("\n");
}

Markup charts_section(const Results& results) {
    Markup content, absent;
    std::vector<std::string> missing;
    for (const auto& chart : charts_of(results)) {
        if (has_data(chart))
            content += chart_markup(chart);
        else
            missing.push_back(chart.title);
    }
    if (!missing.empty())
        absent =
            element("p", {{"class", "soft"}},
                    fmt::format("Not drawn, because it was not measured: {}.", fmt::join(missing, "; ")));
    return section("Charts", content + absent);
}

Markup comparisons_section(const Results& results) {
    const auto all = comparisons(results);
    Markup content;
    std::optional<Subject> last;
    for (const auto& one : all) {
        if (one.about == last) continue;
        last = one.about;
        content += markup_of(comparison_table(one.about, all));
    }
    return section("Comparisons", content);
}

Markup cpus_section(const Results& results) {
    Table table{.caption = "Busy part of each CPU of the machine", .titles = {"CPU"}};
    std::map<unsigned, std::vector<std::string>> rows;
    for (const auto& line : headlines(results)) {
        table.titles.push_back(case_text(line.measured->what));
        for (const auto& [number, busy] : busy_by_cpu(*line.measured)) {
            auto& row = rows[number];
            row.resize(table.titles.size(), "–");
            row.front() = std::to_string(number);
            row.back() = share_text(busy);
        }
    }
    for (auto& [number, row] : rows) {
        row.resize(table.titles.size(), "–");
        table.rows.push_back(std::move(row));
    }
    return table.rows.empty() ? Markup() : section("CPU by CPU", markup_of(table));
}

Markup not_measured_section(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.skipped.empty())
            lines.push_back(fmt::format("{}: {}", case_text(measured.what), measured.skipped));
    return section("Not measured", list_of(lines));
}

} // namespace teamo::ctl::bench::html
