// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

#include <tl/expected.hpp>

namespace teamo::json {

/// Bounds for what comes from outside. The defaults are for a configuration file.
struct Limits {
    std::size_t bytes = std::size_t{1} << 20; ///< of text
    std::size_t depth = 64;                   ///< objects and arrays within one another
};

struct SyntaxError {
    Place place;
    std::string text; ///< one line, printable whatever the bytes were
    bool operator==(const SyntaxError&) const = default;
};

/// Reads one JSON text of strict RFC 8259 form, as jansson does for teamd: an object or an array at the
/// top, UTF-8 only, no duplicate member names, no NUL in strings, integers of 64 bits. Any bytes give
/// a tree or a SyntaxError.
tl::expected<Value, SyntaxError> parse(std::string_view text, Limits limits = {});

} // namespace teamo::json
