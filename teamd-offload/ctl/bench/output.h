// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "ctl/bench/results.h"

#include <string>

namespace teamo::ctl::bench {

/// The results as a table for a terminal.
std::string text_of(const Results& results);

/// The report for --html.
Result<std::string> html_of(const Results& results);

} // namespace teamo::ctl::bench
