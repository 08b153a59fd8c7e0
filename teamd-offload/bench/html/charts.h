// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The charts of a report, each beside the paper that has one like it.
#pragma once

#include "bench/html/chart.h"
#include "bench/results.h"

#include <vector>

namespace teamo::bench::html {

/// All charts; those without data of ours too (has_data).
std::vector<Chart> charts_of(const Results& results);

// Parts of it.
std::vector<Chart> throughput_charts(const Results& results);   ///< APA
std::vector<Chart> segmentation_charts(const Results& results); ///< HP TSO: service demand, throughput
std::vector<Chart> efficiency_charts(const Results& results);   ///< TOE and FEP
std::vector<Chart> setting_charts(const Results& results);      ///< binding, packet sizes, other carriers
std::vector<Chart> load_charts(const Results& results);         ///< files, requests

} // namespace teamo::bench::html
