// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sentences on results as a whole: where they were measured, whether they repeat, what failed.
#pragma once

#include "bench/compare.h"

#include <string>
#include <vector>

namespace teamo::bench {

/// False: no case has a round.
bool was_measured(const Results& results);

/// "14 of 15 ratios agree within 5 % over their rounds".
std::string repeatability(const std::vector<Comparison>& comparisons);

/// Whether a meter of energy was read.
bool has_energy(const Results& results);
/// Why there is no energy.
std::string_view no_energy_text(const Results& results);

/// "the measured host's own CPUs" or "the whole machine, with both ends"; with bound workers it can be
/// another.
std::string basis_text(const Results& results);
/// A line for each case that an error ended.
std::vector<std::string> failed_lines(const Results& results);

struct Setting {
    std::string_view name; ///< "kernel"
    std::string value;     ///< "6.18"
    std::string text;      ///< "kernel 6.18"
};
/// What two runs must have in common, in the order of setting_text().
std::vector<Setting> settings_of(const Results& results);
/// "veth ports of 1000 Mbit/s, shaped by tbf; 2 CPUs; kernel 6.18; profile quick".
std::string setting_text(const Results& results);

} // namespace teamo::bench
