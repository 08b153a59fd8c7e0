// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sections of the report; each with its heading, empty if there is nothing to show.
#pragma once

#include "ctl/bench/html/markup.h"
#include "ctl/bench/money.h"

#include <optional>

namespace teamo::ctl::bench::html {

Markup first_screen(const Results& results);
Markup charts_section(const Results& results);
Markup comparisons_section(const Results& results);
Markup cpus_section(const Results& results);
Markup figures_section(const Results& results);
Markup money_section(const Results& results, const std::optional<Prices>& prices);
Markup not_measured_section(const Results& results);
Markup machine_section(const Results& results);
Markup definitions_section();

/// A heading and what is below it; nothing without content.
Markup section(std::string_view title, const Markup& content);

} // namespace teamo::ctl::bench::html
