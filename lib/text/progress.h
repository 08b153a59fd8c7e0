// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a program writes to standard error while it waits; pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace teamo {

/// "1:05 left"
std::string time_left(std::chrono::nanoseconds left);

/// On a terminal one line that is drawn again, and erased at the end; else a line for each text. Its
/// functions return what must be written.
class ProgressLine {
public:
    explicit ProgressLine(bool is_terminal) : is_terminal_(is_terminal) {}

    bool is_terminal() const { return is_terminal_; }
    std::string draw(std::string_view text);
    /// Before other output, and at the end.
    std::string erase();

private:
    bool is_terminal_, is_shown_ = false;
};

} // namespace teamo
