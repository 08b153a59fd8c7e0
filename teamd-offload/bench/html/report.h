// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as one HTML file: no script, no reference outside itself. Charts beside the papers, all figures as
// tables, the machine, the definitions.
#pragma once

#include "base/result.h"
#include "bench/money.h"

#include <optional>
#include <string>

namespace teamo::bench {

/// The text of the file, in UTF-8.
std::string html_report(const Results& results, const std::optional<Prices>& prices = std::nullopt);

/// The path at which the file is replaced: where `file` is a link, that of the file behind it. Fails if there
/// is something else than a file, such as a device, or if the folder does not allow it.
Result<std::string> report_target(const std::string& file);

} // namespace teamo::bench
