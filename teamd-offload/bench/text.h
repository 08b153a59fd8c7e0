// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as text for a terminal of 80 columns, and as Markdown for documents.
#pragma once

#include "bench/money.h"

#include <optional>
#include <span>
#include <string>

namespace teamo::bench {

std::string results_text(const Results& results, const std::optional<Prices>& prices = std::nullopt);

/// Markdown: for each machine its name and the table by ways and ports; of the profiles "peers" and "binding"
/// all cases and what they compare.
std::string markdown_text(std::span<const Results> results);

/// Where two runs on one machine disagree, and why; or that they agree.
std::string disagreements_text(const Results& first, const Results& second);

} // namespace teamo::bench
