// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares measured figures with their bounds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace teamo::test {

/// Bounds of a figure. Between them: noise of a shared machine. A figure beyond `promised` is reported, one
/// beyond `defect` fails. With TEAMO_PROMISES=1 (./quickstart measure, on an idle machine) a figure beyond
/// `promised` fails.
struct Bounds {
    double promised = 0, defect = 0;
};

/// TEAMO_PROMISES=1.
bool promises_enforced();

/// Number of measurements: enough to show a defect, and enough for TEAMO_PROMISES=1.
struct Rounds {
    int shown = 1, measured = 1;
};
inline int rounds(Rounds number) { return promises_enforced() ? number.measured : number.shown; }

/// The upper median. Needs at least one value.
template <class Number>
double median(std::vector<Number> values) {
    std::ranges::sort(values);
    return static_cast<double>(values.at(values.size() / 2));
}

/// Prints the figure with its bound.
testing::AssertionResult at_most(std::string_view what, double figure, Bounds bounds);
testing::AssertionResult at_least(std::string_view what, double figure, Bounds bounds);

/// For times, which other load can only increase: `promised` applies to the median, `defect` to the shortest.
testing::AssertionResult at_most(std::string_view what, const std::vector<double>& times, Bounds bounds);

} // namespace teamo::test
