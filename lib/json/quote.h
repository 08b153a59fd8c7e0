// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes untrusted text safe for messages: one line, no control characters for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace teamo::json {

/// Writes control characters as \u001b and invalid UTF-8 as \xff.
std::string printable(std::string_view text);

/// The same in double quotes, with quotes and backslashes escaped; a long text is cut.
std::string quote(std::string_view text);

} // namespace teamo::json
