// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

namespace teamo::json {

struct Style {
    int indent = 4;        ///< 0: one line, as teamdctl -o prints (jansson: ", " and ": " between)
    bool sort_keys = true; ///< by bytes, as jansson's JSON_SORT_KEYS
};

/// Byte for byte as jansson writes with JSON_INDENT, JSON_ENSURE_ASCII and JSON_SORT_KEYS, as teamd and
/// teamdctl do. No newline at the end.
std::string write(const Value& value, Style style = {});

} // namespace teamo::json
