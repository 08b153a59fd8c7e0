// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/money.h"

#include <string>

namespace teamo::bench {

/// What a reader of a report sees, as values: the page (report.html) draws and tabulates it.
json::Value report_document(const Results& results, const std::optional<Prices>& prices);

/// The page with that document in it, and the library that draws (chart_library()); without one its charts
/// are tables. It refers to nothing outside.
std::string html_report(const Results& results, const std::optional<Prices>& prices = std::nullopt,
                        std::string_view library = {});

/// Chart.js as Debian's package libjs-chart.js installs it; empty: it is not installed.
std::string chart_library();

/// Where a report is written: the file itself, or the one that a symbolic link leads to. EINVAL: it is
/// there, but no regular file; EACCES and others: it cannot be written.
Result<std::string> report_target(const std::string& file);

} // namespace teamo::bench
