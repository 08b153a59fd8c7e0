// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace teamo::ctl {
namespace {

void add_line(std::string& text, const Row& row, const std::vector<std::size_t>& widths) {
    assert(row.size() == widths.size());
    for (std::size_t column = 0; column < row.size(); ++column)
        text += column == 0 ? fmt::format("{:<{}}", row[column], widths[column])
                            : fmt::format("  {:>{}}", row[column], widths[column]);
    text += '\n';
}

} // namespace

std::string table_of(const Row& titles, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < titles.size(); ++column) {
        auto width = titles[column].size();
        for (const auto& row : rows)
            width = std::max(width, row.at(column).size());
        widths.push_back(width);
    }
    std::string text;
    add_line(text, titles, widths);
    for (const auto& row : rows)
        add_line(text, row, widths);
    return text;
}

} // namespace teamo::ctl
