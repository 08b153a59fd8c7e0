// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace teamo::ctl {

using Row = std::vector<std::string>;

/// Columns under their titles, two blanks apart; the first is aligned left, the numbers after it right.
/// Every row has as many cells as there are titles.
std::string table_of(const Row& titles, const std::vector<Row>& rows);

} // namespace teamo::ctl
