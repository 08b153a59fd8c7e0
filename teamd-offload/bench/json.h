// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as JSON, for --json and for files that are compared later. Lossless both ways.
#pragma once

#include "base/result.h"
#include "bench/results.h"
#include "json/value.h"

namespace teamo::bench {

/// The "format" of the document. A reader refuses other numbers.
inline constexpr int json_format = 1;

json::Value to_json(const Results& results);
json::Value to_json(const Case& what);

/// EBADMSG: not a document of this format, or a value in it is no such one. A missing member has the value
/// that an empty Results has.
Result<Results> from_json(json::Value document);

} // namespace teamo::bench
