// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/sections.h"

#include "bench/html/chart.h"
#include "bench/html/charts.h"
#include "bench/papers.h"
#include "bench/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::bench::html {
namespace {

Table first_table(const Results& results) {
    auto rows = headline_rows(results);
    Table table{.caption =
                    fmt::format("{}; CPU time of {}", setup_text(usual_case(results)), basis_text(results)),
                .titles = rows.front()};
    table.rows.assign(rows.begin() + 1, rows.end());
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

Markup first_screen(const Results& results) {
    const auto all = comparisons(results);
    const auto table = first_table(results);
    const auto* without_headlines = was_measured(results)
                                        ? "No throughput was measured; all figures are below."
                                        : "Nothing was measured.";
    const auto content = element("h2", "In short") +
                         (table.rows.empty() ? element("p", without_headlines) : markup_of(table)) +
                         element("p", fmt::format("Repeatability: {}.", repeatability(all)));
    return element("section", {{"class", "first"}}, content) + Markup::verbatim("\n");
}

Markup charts_part(const Results& results) {
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
    return content + absent;
}

Markup comparisons_part(const Results& results) {
    const auto all = comparisons(results);
    Markup content;
    std::optional<Subject> last;
    for (const auto& one : all) {
        if (one.about == last) continue;
        last = one.about;
        content += markup_of(comparison_table(one.about, all));
    }
    return content;
}

Markup not_measured_part(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.skipped.empty())
            lines.push_back(fmt::format("{}: {}", case_text(measured.what), measured.skipped));
    std::ranges::move(failed_lines(results), std::back_inserter(lines));
    return list_of(lines);
}

} // namespace teamo::bench::html
