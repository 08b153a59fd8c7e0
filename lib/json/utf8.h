// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace teamo::json {

/// One character of a text, and its size in bytes.
struct Character {
    char32_t code;    ///< U+FFFD for invalid UTF-8
    std::size_t size; ///< 1 to 4; 1 for invalid UTF-8
};

/// The first character of `text`, which must not be empty. Shortest forms only, no surrogates (RFC 3629).
Character first_character(std::string_view text);

inline constexpr char32_t replacement_character = 0xFFFD;

} // namespace teamo::json
