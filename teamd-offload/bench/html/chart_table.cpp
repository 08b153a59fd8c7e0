// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::bench::html {
namespace {

std::string rounds_text(const Spread& value, int digits) {
    if (value.rounds < 2) return "–";
    auto low = fmt::format("{:.{}f}", value.low, digits), high = fmt::format("{:.{}f}", value.high, digits);
    return low == high ? low : low + " to " + high;
}

bool any_bar(const Chart& chart, bool (*is)(const Bar&)) {
    return std::ranges::any_of(chart.groups,
                               [&](const BarGroup& group) { return std::ranges::any_of(group.bars, is); });
}

std::string titled(const Axis& axis) {
    return axis.unit.empty() ? axis.title : fmt::format("{} ({})", axis.title, axis.unit);
}

} // namespace

bool has_data(const Chart& chart) {
    return any_bar(chart, [](const Bar& bar) { return bar.value && bar.style != Style::paper; });
}

Table table_of(const Chart& chart) {
    const bool repeated = any_bar(chart, [](const Bar& bar) { return bar.value && bar.value->rounds > 1; });
    const bool marked = any_bar(chart, [](const Bar& bar) { return bar.value && !bar.mark.empty(); });
    Table table{.caption = chart.title, .titles = {"case", titled(chart.main)}};
    if (repeated) table.titles.emplace_back("rounds");
    if (chart.side) table.titles.push_back(titled(*chart.side));
    if (marked) table.titles.emplace_back("limited by");
    for (const auto& group : chart.groups)
        for (const auto& bar : group.bars) {
            std::vector<std::string> row{group.name + ", " + bar.name};
            const int digits = chart.main.digits;
            row.push_back(bar.value          ? fmt::format("{:.{}f}", bar.value->median, digits)
                          : bar.mark.empty() ? "not measured"
                                             : bar.mark);
            if (repeated) row.push_back(bar.value ? rounds_text(*bar.value, digits) : "–");
            if (chart.side)
                row.push_back(bar.side ? fmt::format("{:.{}f}", *bar.side, chart.side->digits) : "–");
            if (marked) row.push_back(bar.value && !bar.mark.empty() ? bar.mark : "–");
            table.rows.push_back(std::move(row));
        }
    return table;
}

} // namespace teamo::bench::html
