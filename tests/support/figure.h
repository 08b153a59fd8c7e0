// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Figures beside what is promised of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace teamo::test {

/// What is promised of a figure, and where a defect begins: between the two lies what a machine does to it
/// that others use too. Beyond `promised` it is said, beyond `defect` it fails; with TEAMO_PROMISES=1
/// (./quickstart measure, on a machine that has nothing else to do) every promise is held to.
struct Bounds {
    double promised = 0, defect = 0;
};

/// The upper of the middle two; of at least one.
template <class Number>
double median(std::vector<Number> values) {
    std::ranges::sort(values);
    return static_cast<double>(values.at(values.size() / 2));
}

/// Prints the figure with what was promised.
testing::AssertionResult at_most(std::string_view what, double figure, Bounds bounds);
testing::AssertionResult at_least(std::string_view what, double figure, Bounds bounds);

} // namespace teamo::test
