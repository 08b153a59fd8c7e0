// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/shapes.h"

#include <fmt/format.h>

#include <array>

namespace teamo::bench::html {
namespace {

constexpr std::array<std::string_view, 4> style_classes{"now", "then", "paper", "other"};

} // namespace

std::string px(double value) { return fmt::format("{:.1f}", value); }

std::string_view class_of(Style style) { return style_classes.at(static_cast<std::size_t>(style)); }

Markup label(double x, double y, std::string_view classes, const std::string& text) {
    return element("text", {{"x", px(x)}, {"y", px(y)}, {"class", std::string(classes)}}, text);
}

Markup line(double x1, double y1, double x2, double y2, std::string_view classes) {
    return lone_element(
        "line",
        {{"x1", px(x1)}, {"y1", px(y1)}, {"x2", px(x2)}, {"y2", px(y2)}, {"class", std::string(classes)}});
}

Markup bar_shape(double x, double y, double width, double height, Style style) {
    return lone_element("rect", {{"x", px(x)},
                                 {"y", px(y)},
                                 {"width", px(width)},
                                 {"height", px(height)},
                                 {"class", fmt::format("bar {}", class_of(style))}});
}

} // namespace teamo::bench::html
