// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CPU by CPU: a bar for each, of what it did.
#include "bench/compare.h"
#include "bench/html/sections.h"
#include "bench/html/shapes.h"
#include "bench/summary.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace teamo::bench::html {
namespace {

using CpuShares = std::map<unsigned, CpuTime>;

struct CpuPart {
    std::string_view name;
    double CpuTime::* share;
    Style style;
};
constexpr std::array cpu_parts{
    CpuPart{"user", &CpuTime::user, Style::now}, CpuPart{"system", &CpuTime::system, Style::then},
    CpuPart{"softirq", &CpuTime::softirq, Style::paper}, CpuPart{"irq", &CpuTime::irq, Style::other}};

/// Those that were measured.
std::vector<CpuPart> parts_in(const CpuShares& cpus) {
    std::vector<CpuPart> parts(cpu_parts.begin(), cpu_parts.end());
    if (!has_irq(cpus)) parts.pop_back();
    return parts;
}

// As in other charts.
constexpr double cpu_name_end = 52, cpu_bars_start = 58, cpu_bars_end = 390, cpu_row = 19, cpu_bar = 13,
                 cpu_head = 40;

Markup legend_of(const std::vector<CpuPart>& parts) {
    Markup drawn;
    double left = cpu_bars_start;
    for (const auto& part : parts) {
        drawn +=
            bar_shape(left, 2, 18, 10, part.style) + label(left + 23, 11, "axis", std::string(part.name));
        left += 84;
    }
    return drawn;
}

Markup cpu_bar_of(unsigned number, const CpuTime& cpu, const std::vector<CpuPart>& parts, double top) {
    auto drawn = label(cpu_name_end, top + 11, "name", fmt::format("CPU {}", number));
    double left = cpu_bars_start;
    for (const auto& part : parts) {
        const double width = cpu.*part.share * (cpu_bars_end - cpu_bars_start);
        if (width > 0) drawn += bar_shape(left, top, width, cpu_bar, part.style);
        left += width;
    }
    return drawn + label(left + 4, top + 11, "value", fmt::format("{:.0f} %", 100 * busy_share(cpu))) +
           Markup::verbatim("\n");
}

Markup drawing_of_cpus(const CpuShares& cpus, const std::string& about) {
    const auto parts = parts_in(cpus);
    const double bottom = cpu_head + cpu_row * static_cast<double>(cpus.size()) + 2;
    auto drawn = legend_of(parts);
    for (const unsigned share : {0U, 50U, 100U}) {
        const double x = cpu_bars_start + share / 100.0 * (cpu_bars_end - cpu_bars_start);
        drawn += line(x, cpu_head - 6, x, bottom, share == 0 ? "zero" : "grid") +
                 label(x, cpu_head - 10, "tick", fmt::format("{} %", share));
    }
    double top = cpu_head;
    for (const auto& [number, cpu] : cpus) {
        drawn += cpu_bar_of(number, cpu, parts, top);
        top += cpu_row;
    }
    return element("svg",
                   {{"viewBox", fmt::format("0 0 {:.0f} {:.0f}", drawing_width, bottom + 4)},
                    {"role", "img"},
                    {"aria-label", about + ". The table beside it has its figures."}},
                   drawn);
}

Table table_of_cpus(const CpuShares& cpus, const std::string& title) {
    const auto parts = parts_in(cpus);
    Table table{.caption = "In % of each CPU's time, medians of the rounds: " + title,
                .titles = {"CPU", "busy"}};
    for (const auto& part : parts)
        table.titles.emplace_back(part.name);
    for (const auto& [number, cpu] : cpus) {
        std::vector<std::string> row{std::to_string(number), fmt::format("{:.1f}", 100 * busy_share(cpu))};
        for (const auto& part : parts)
            row.push_back(fmt::format("{:.1f}", 100 * cpu.*part.share));
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

Markup cpus_part(const Results& results) {
    Markup content;
    for (const auto& line : headlines(results)) {
        const auto cpus = shares_by_cpu(*line.measured);
        if (cpus.empty()) continue;
        const auto title = case_text(line.measured->what);
        const auto drawing = drawing_of_cpus(cpus, "What each CPU of the machine did, " + title);
        content += element("h3", title) +
                   element("div", {{"class", "chart cpus"}},
                           element("figure", drawing) + markup_of(table_of_cpus(cpus, title))) +
                   Markup::verbatim("\n");
    }
    return content;
}

} // namespace teamo::bench::html
