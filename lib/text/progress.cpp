// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace teamo {
namespace {

constexpr std::string_view erase_rest = "\033[K"; ///< of the line
/// A text that is wider than the terminal must not go to the next line: "\r" would not come back.
constexpr std::string_view wrap_off = "\033[?7l", wrap_on = "\033[?7h";

} // namespace

std::string time_left(std::chrono::nanoseconds left) {
    const auto seconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(left).count(), 0);
    return fmt::format("{}:{:02} left", seconds / 60, seconds % 60);
}

std::string ProgressLine::draw(std::string_view text) {
    is_shown_ = true;
    return is_terminal_ ? fmt::format("\r{}{}{}{}", wrap_off, text, erase_rest, wrap_on)
                        : fmt::format("{}\n", text);
}

std::string ProgressLine::erase() {
    return std::exchange(is_shown_, false) && is_terminal_ ? fmt::format("\r{}", erase_rest) : std::string();
}

} // namespace teamo
