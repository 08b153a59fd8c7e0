// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::demo {

/// What the demo says while it works, and the table at its end.
class Report {
public:
    /// One line, with the seconds since the start.
    void step(std::string_view text) const;
    /// Somebody else's output, indented.
    void quote(std::string_view text) const;

    void expect(std::string what, std::string measured, std::string expected, bool came_true);
    /// Prints the table; true if all came true.
    bool conclude() const;

private:
    struct Row {
        std::string what, measured, expected;
        bool came_true;
    };
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::vector<Row> rows_;
};

} // namespace teamo::demo
