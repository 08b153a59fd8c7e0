// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace teamo {

using Row = std::vector<std::string>;

/// Columns two blanks apart, the first aligned left, the others right. Every row must have as many cells as
/// there are titles.
std::string table_of(const Row& titles, std::vector<Row> rows);

} // namespace teamo
