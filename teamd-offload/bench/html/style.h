// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string_view>

namespace teamo::bench::html {

/// The style sheet: light, dark and printed; narrow and wide.
std::string_view style_sheet();

} // namespace teamo::bench::html
