// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A chart as a value: bars in groups, and beside them a second figure for each bar as a line. Its drawing and
// its table are made from the same value.
#pragma once

#include "bench/html/markup.h"
#include "bench/metrics.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::bench::html {

enum class Style : std::uint8_t {
    now,
    then,
    paper,
    other
}; ///< solid, striped, dotted, empty: no colour needed

struct Bar {
    std::string name{};
    Style style = Style::now;
    std::optional<Spread> value{};
    std::string mark{}; ///< beside the value: what limited it; without a value: why there is none
    std::optional<double> side{};
};

struct BarGroup {
    std::string name{};
    std::vector<Bar> bars{};
    std::string series{}; ///< a line joins only groups of the same series
};

struct Axis {
    std::string title{}, unit{};
    int digits = 0;
};

struct Chart {
    std::string id{}; ///< a word, unique in the document
    std::string title{};
    std::string lead{}; ///< what it shows, beside which paper: one or two sentences
    Axis main{};
    std::optional<Axis> side{};
    std::vector<BarGroup> groups{};
    bool connected = false; ///< the groups are points of a quantity: a line connects their side figures
};

/// Whether there is anything of ours to draw.
bool has_data(const Chart& chart);

Markup drawing_of(const Chart& chart);
Table table_of(const Chart& chart);

/// The patterns that drawings use; once in a document.
Markup patterns();

} // namespace teamo::bench::html
