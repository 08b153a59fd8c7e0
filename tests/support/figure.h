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

/// TEAMO_PROMISES=1.
bool promises_are_held();

/// How often a figure is taken: what a defect needs to show itself, and what a promise is held to by.
struct Rounds {
    int shown = 1, measured = 1;
};
inline int rounds(Rounds number) { return promises_are_held() ? number.measured : number.shown; }

/// The upper of the middle two; of at least one.
template <class Number>
double median(std::vector<Number> values) {
    std::ranges::sort(values);
    return static_cast<double>(values.at(values.size() / 2));
}

/// Prints the figure with what was promised.
testing::AssertionResult at_most(std::string_view what, double figure, Bounds bounds);
testing::AssertionResult at_least(std::string_view what, double figure, Bounds bounds);

/// Of times that other work on the machine can only make longer: the promise is of their median, and a defect
/// is in the shortest too.
testing::AssertionResult at_most(std::string_view what, const std::vector<double>& times, Bounds bounds);

} // namespace teamo::test
