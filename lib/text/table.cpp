// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace teamo {

std::string table_of(const Row& titles, std::vector<Row> rows) {
    rows.insert(rows.begin(), titles);
    std::vector<std::size_t> widths(titles.size());
    for (const auto& row : rows) {
        assert(row.size() == titles.size());
        for (std::size_t column = 0; column < titles.size(); ++column)
            widths[column] = std::max(widths[column], row.at(column).size());
    }
    std::string text;
    for (const auto& row : rows) {
        text += fmt::format("{:<{}}", row[0], widths[0]);
        for (std::size_t column = 1; column < titles.size(); ++column)
            text += fmt::format("  {:>{}}", row[column], widths[column]);
        text += '\n';
    }
    return text;
}

} // namespace teamo
