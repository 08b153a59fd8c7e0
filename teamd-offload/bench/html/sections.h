// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is below each heading of the report; empty if there is nothing to show.
#pragma once

#include "bench/html/markup.h"
#include "bench/money.h"

#include <optional>

namespace teamo::bench::html {

Markup first_screen(const Results& results);
Markup charts_part(const Results& results);
Markup machine_part(const Results& results);
Markup not_measured_part(const Results& results);
Markup cpus_part(const Results& results);
Markup money_part(const Results& results, const std::optional<Prices>& prices);
Markup comparisons_part(const Results& results);
Markup figures_part(const Results& results);
Markup definitions_part();
Markup papers_part();

} // namespace teamo::bench::html
