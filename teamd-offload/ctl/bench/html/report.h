// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as one HTML file: no script, no reference outside itself. Charts beside the papers, all figures as
// tables, the machine, the definitions.
#pragma once

#include "ctl/bench/money.h"

#include <optional>
#include <string>

namespace teamo::ctl::bench {

/// The text of the file, in UTF-8.
std::string html_report(const Results& results, const std::optional<Prices>& prices = std::nullopt);

} // namespace teamo::ctl::bench
