// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The shapes of drawings, in units of the view box, which are pixels when the drawing is as wide as that.
#pragma once

#include "bench/html/chart.h"

namespace teamo::bench::html {

inline constexpr double drawing_width = 440;

std::string px(double value);
std::string_view class_of(Style style);
Markup label(double x, double y, std::string_view classes, const std::string& text);
Markup line(double x1, double y1, double x2, double y2, std::string_view classes);
/// A piece of a bar.
Markup bar_shape(double x, double y, double width, double height, Style style);

} // namespace teamo::bench::html
