// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as tables. The text for a terminal, Markdown and the page of a report show the same ones.
#pragma once

#include "bench/money.h"
#include "text/table.h"
#include "json/value.h"

#include <string>
#include <vector>

namespace teamo::bench {

struct Table {
    std::string title;
    Row columns;           ///< the first one has what a row is about
    std::vector<Row> rows; ///< as many cells as columns, "-" for what was not measured; none: nothing to show
    std::string note{};    ///< below it
};

/// The headlines: a row for each figure, below it the paper's, a column for each way.
Table summary_table(const Results& results);
/// The usual case by way and number of ports, TSO on and off side by side.
Table ports_table(const Results& results);
/// The cases that are not in ports_table(), or all of them.
Table cases_table(const Results& results, bool all);
/// All that is known of the headlines, by the names of teamo-metrics(7).
Table figures_table(const Results& results);
/// One for each subject.
std::vector<Table> comparison_tables(const Results& results);
/// What each CPU did, for each headline.
std::vector<Table> cpu_tables(const Results& results);
Table cost_table(const Results& results, const Prices& prices);

/// A line for each case that was not measured, or that an error ended.
std::vector<std::string> lines_of_missing(const Results& results);

json::Value document_of(const Table& table);

} // namespace teamo::bench
