// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string_view>

namespace teamo {

/// Removes and returns the text before the next of the `separators`, or all of it; also removes the
/// separator.
inline std::string_view take_until(std::string_view& text, std::string_view separators) {
    const auto part = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

} // namespace teamo
