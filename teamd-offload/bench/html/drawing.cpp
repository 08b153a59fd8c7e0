// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/compare.h"
#include "bench/html/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace teamo::bench::html {
namespace {

constexpr double width = drawing_width, name_end = 92, bars_start = 98, side_start = 330, side_end = 424;
constexpr double row_height = 19, bar_height = 13, group_gap = 8, head_height = 34, foot_height = 8;
constexpr double label_room = 84; ///< beside the longest bar

/// From values to places on the drawing.
struct Scale {
    double low = 0, high = 1, start = 0, end = 1;
    double at(double value) const { return start + (value - low) / (high - low) * (end - start); }
};

/// The next number that reads well.
double round_up(double value) {
    if (value <= 0) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (value <= step * power * (1 + 1e-9)) return step * power;
    return 10 * power;
}

template <class Value>
Scale scale_of(const Chart& chart, double start, double end, Value value_of) {
    double low = 0, high = 0;
    for (const auto& group : chart.groups)
        for (const auto& bar : group.bars)
            for (const auto value : value_of(bar)) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
    return {.low = low < 0 ? -round_up(-low) : 0,
            .high = high > 0 || low == 0 ? round_up(high) : 0,
            .start = start,
            .end = end};
}

/// With the ends of its whisker.
std::vector<double> ends_of(const Bar& bar) {
    return bar.value ? std::vector{bar.value->low, bar.value->high} : std::vector<double>();
}
std::vector<double> side_of(const Bar& bar) {
    return bar.side ? std::vector{*bar.side} : std::vector<double>();
}

struct Layout {
    const Chart& chart;
    Scale bars, side;
    double height = 0;
};

Layout layout_of(const Chart& chart) {
    double height = head_height + foot_height;
    for (const auto& group : chart.groups)
        height += group_gap + row_height * static_cast<double>(group.bars.size() + 1);
    const double bars_end = (chart.side ? side_start - 8 : width) - label_room;
    return {.chart = chart,
            .bars = scale_of(chart, bars_start, bars_end, ends_of),
            .side = scale_of(chart, side_start, side_end, side_of),
            .height = height};
}

std::string tick_text(double value) {
    if (std::abs(value) >= 1e6) return fmt::format("{:g} M", value / 1e6);
    return std::abs(value) >= 1e4 ? fmt::format("{:g} k", value / 1e3) : fmt::format("{:g}", value);
}

/// Title of the axis, and lines at its ends.
Markup axis_of(const Layout& layout, const Axis& axis, const Scale& scale, double left) {
    const double bottom = layout.height - foot_height;
    const auto title = axis.unit.empty() ? axis.title : fmt::format("{}, {}", axis.title, axis.unit);
    Markup drawn = label(left, 11, "axis", title);
    for (const double value : {scale.low, (scale.low + scale.high) / 2, scale.high}) {
        const double x = scale.at(value);
        drawn += line(x, head_height - 6, x, bottom, value == 0 ? "zero" : "grid");
        drawn += label(std::min(x, width - 16), head_height - 10, "tick", tick_text(value));
    }
    if (scale.low < 0 && scale.high > 0)
        drawn += line(scale.at(0), head_height - 6, scale.at(0), bottom, "zero");
    return drawn;
}

/// The range of the rounds, as a line with ends.
Markup whisker(const Spread& value, const Scale& scale, double middle) {
    if (value.rounds < 2) return {};
    const double low = scale.at(value.low), high = scale.at(value.high);
    return line(low, middle, high, middle, "whisker") + line(low, middle - 3, low, middle + 3, "whisker") +
           line(high, middle - 3, high, middle + 3, "whisker");
}

/// The value and what limited it. That this is not known is left out where it would meet the side figures.
std::string value_text(const Layout& layout, const Bar& bar, double left) {
    constexpr double letter_width = 6.5; // on average, in the larger letters of a small screen
    const auto value = fmt::format("{:.{}f}", bar.value->median, layout.chart.main.digits);
    if (bar.mark != limit_text(Limit::unknown)) return bar.mark.empty() ? value : value + " " + bar.mark;
    const auto text = fmt::format("{} limit {}", value, bar.mark);
    const double right = left + letter_width * static_cast<double>(text.size());
    return right <= (layout.chart.side ? side_start - 8 : width) ? text : value;
}

Markup bar_of(const Layout& layout, const Bar& bar, double top) {
    Markup drawn = label(name_end, top + 11, "name", bar.name);
    if (!bar.value)
        return drawn + label(bars_start + 3, top + 11, "value", bar.mark.empty() ? "not measured" : bar.mark);
    const auto& scale = layout.bars;
    const double zero = scale.at(0), end = scale.at(bar.value->median);
    drawn += bar_shape(std::min(zero, end), top, std::max(std::abs(end - zero), 0.5), bar_height, bar.style);
    drawn += whisker(*bar.value, scale, top + bar_height / 2);
    const double right = std::max({zero, end, scale.at(bar.value->high)});
    return drawn + label(right + 4, top + 11, "value", value_text(layout, bar, right + 4));
}

/// A mark of its own shape for each style.
Markup mark_of(Style style, double x, double y) {
    const auto classes = fmt::format("mark {}", class_of(style));
    if (style == Style::now)
        return lone_element("circle", {{"cx", px(x)}, {"cy", px(y)}, {"r", "3.5"}, {"class", classes}});
    if (style == Style::then)
        return lone_element(
            "rect",
            {{"x", px(x - 3)}, {"y", px(y - 3)}, {"width", "6"}, {"height", "6"}, {"class", classes}});
    return lone_element("path",
                        {{"d", fmt::format("M{:.1f} {:.1f}l4 4l-4 4l-4 -4z", x, y - 4)}, {"class", classes}});
}

Markup side_of(const Layout& layout, const Bar& bar, double top) {
    if (!layout.chart.side || !bar.side) return {};
    const double x = layout.side.at(*bar.side), y = top + bar_height / 2;
    const bool left = x > (side_start + side_end) / 2;
    const auto value = fmt::format("{:.{}f}", *bar.side, layout.chart.side->digits);
    return mark_of(bar.style, x, y) +
           label(left ? x - 7 : x + 7, y + 4, left ? "side before" : "side", value);
}

/// The lines that connect the marks of bars with the same name.
Markup side_lines(const Layout& layout) {
    if (!layout.chart.connected) return {};
    std::map<std::pair<std::string, std::string>, std::pair<Style, std::vector<std::string>>> lines;
    double top = head_height;
    for (const auto& group : layout.chart.groups) {
        top += row_height;
        for (const auto& bar : group.bars) {
            if (bar.side) {
                auto& [style, points] = lines[{group.series, bar.name}];
                style = bar.style;
                points.push_back(
                    fmt::format("{:.1f},{:.1f}", layout.side.at(*bar.side), top + bar_height / 2));
            }
            top += row_height;
        }
        top += group_gap;
    }
    Markup drawn;
    for (const auto& [name, found] : lines)
        if (found.second.size() > 1)
            drawn += lone_element("polyline", {{"points", fmt::format("{}", fmt::join(found.second, " "))},
                                               {"class", fmt::format("line {}", class_of(found.first))}});
    return drawn;
}

} // namespace

Markup drawing_of(const Chart& chart) {
    const auto layout = layout_of(chart);
    Markup drawn = axis_of(layout, chart.main, layout.bars, bars_start);
    if (chart.side) drawn += axis_of(layout, *chart.side, layout.side, side_start) + side_lines(layout);
    double top = head_height;
    for (const auto& group : chart.groups) {
        drawn += label(0, top + 12, "group", group.name);
        top += row_height;
        for (const auto& bar : group.bars) {
            drawn += bar_of(layout, bar, top) + side_of(layout, bar, top) + Markup::verbatim("\n");
            top += row_height;
        }
        top += group_gap;
    }
    const auto title = chart.id + "-title", about = chart.id + "-desc";
    return element(
               "svg",
               {{"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, layout.height)},
                {"role", "img"},
                {"aria-labelledby", title + " " + about}},
               element("title", {{"id", title}}, chart.title) +
                   element("desc", {{"id", about}}, chart.lead + " The table beside it has its figures.") +
                   drawn) +
           Markup::verbatim("\n");
}

Markup patterns() {
    return Markup::verbatim(
        "<svg width=\"0\" height=\"0\" class=\"patterns\" aria-hidden=\"true\" focusable=\"false\"><defs>\n"
        "<pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"2.5\" height=\"6\" class=\"ink-then\"/></pattern>\n"
        "<pattern id=\"dots\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><circle cx=\"2.5\" "
        "cy=\"2.5\" r=\"1.2\" class=\"ink-paper\"/></pattern>\n</defs></svg>\n");
}

} // namespace teamo::bench::html
