// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as text for a terminal of 80 columns, and as a table for the README.
#pragma once

#include "bench/money.h"

#include <optional>
#include <span>
#include <string>

namespace teamo::bench {

std::string results_text(const Results& results, const std::optional<Prices>& prices = std::nullopt);

/// Markdown: a table with a row for each way and number of ports of each machine, TSO on and off side by
/// side; a table of the peers, where they were measured; and a line on each machine below.
std::string markdown_table(std::span<const Results> results);

/// Where two runs on one machine disagree, and why; or that they agree.
std::string disagreements_text(const Results& first, const Results& second);

} // namespace teamo::bench
