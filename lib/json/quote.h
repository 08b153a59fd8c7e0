// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The characters of a text, and untrusted text made safe for messages: one line, no control characters for a
// terminal.
#pragma once

#include <string>
#include <string_view>

namespace teamo::json {

inline constexpr char32_t replacement_character = 0xFFFD;

/// One character of a text, and its size in bytes.
struct Character {
    char32_t code;    ///< U+FFFD for invalid UTF-8
    std::size_t size; ///< 1 to 4; 1 for invalid UTF-8
};

/// The first character of `text`, which must not be empty. Shortest forms only, no surrogates (RFC 3629).
Character first_character(std::string_view text);

/// Writes control characters as \u001b and invalid UTF-8 as \xff.
std::string printable(std::string_view text);

/// The same in double quotes, with quotes and backslashes escaped; a long text is cut.
std::string quote(std::string_view text);

} // namespace teamo::json
