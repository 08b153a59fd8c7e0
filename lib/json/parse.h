// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

#include <tl/expected.hpp>

namespace teamo::json {

/// Limits for untrusted input. The defaults are for a configuration file.
struct Limits {
    std::size_t bytes = std::size_t{1} << 20; ///< of text
    std::size_t depth = 64;                   ///< of nested objects and arrays
};

struct SyntaxError {
    Place place;
    std::string text; ///< one line, printable for any input
    bool operator==(const SyntaxError&) const = default;
};

/// Reads one JSON text in strict RFC 8259 form, as jansson does for teamd: an object or an array at the
/// top level, UTF-8 only, no duplicate member names, no NUL in strings, 64-bit integers. Any input gives a
/// tree or a SyntaxError.
tl::expected<Value, SyntaxError> parse(std::string_view text, Limits limits = {});

} // namespace teamo::json
