// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace teamo {

/// Parses a text that is only a number: no blanks, no "+", nothing after it, and within `Number`'s range.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
    Number number{};
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

} // namespace teamo
