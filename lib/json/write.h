// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

namespace teamo::json {

struct Style {
    int indent = 4;        ///< 0: one line, as teamdctl -o prints (jansson: ", " and ": " between)
    bool sort_keys = true; ///< by bytes, as jansson's JSON_SORT_KEYS
};

/// The text jansson makes with JSON_INDENT, JSON_ENSURE_ASCII and JSON_SORT_KEYS, byte for byte: that is
/// what teamd and teamdctl print. No new line at the end.
std::string write(const Value& value, Style style = {});

} // namespace teamo::json
