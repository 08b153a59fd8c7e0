// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What somebody else wrote, put into a message of ours: one line, nothing a terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace teamo::json {

/// The text with control characters and bytes that are no UTF-8 written as \u001b or \xff.
std::string printable(std::string_view text);

/// The same in double quotes, with quotes and backslashes escaped, and cut where it is long.
std::string quote(std::string_view text);

} // namespace teamo::json
