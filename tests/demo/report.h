// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::demo {

/// Whether a figure is as expected.
struct Outcome {
    bool kept = false;
    std::string excuse{}; ///< if it is not: how the machine explains it; empty for a defect
};

/// The demo's progress messages and the table at the end.
class Report {
public:
    /// One line, with the seconds since the start.
    void step(std::string_view text) const;
    /// The output of another program, indented.
    void quote(std::string_view text) const;

    void expect(std::string what, std::string measured, std::string expected, Outcome outcome);
    /// Prints the table; false if it shows a defect.
    bool conclude() const;

private:
    struct Row {
        std::string what, measured, expected;
        Outcome outcome;
    };
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::vector<Row> rows_;
};

} // namespace teamo::demo
