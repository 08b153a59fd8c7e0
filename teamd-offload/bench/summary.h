// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a reader needs first: how fast, at what CPU, what limits, how that stands beside the papers.
#pragma once

#include "bench/compare.h"

#include <string>
#include <vector>

namespace teamo::bench {

/// A usual case with the most ports, for each way.
struct Headline {
    const Measured* measured;
    Spread throughput;
    std::optional<Spread> cpu{}, demand{};
};
std::vector<Headline> headlines(const Results& results);

/// Whether a case differs from the usual one in ports, way and TSO alone.
bool is_like(Case what, const Case& usual);

/// "with TSO on", which the headlines have if any case has it.
std::string tso_title(const Results& results);

/// False: no case has a round.
bool was_measured(const Results& results);

/// The headlines as a table: a row for each figure, beside it the paper's, with a column for each way. The
/// first row has the titles.
std::vector<std::vector<std::string>> headline_rows(const Results& results);

/// "14 of 15 ratios agree within 5 % over their rounds".
std::string repeatability(const std::vector<Comparison>& comparisons);

/// Whether a meter of energy was read.
bool has_energy(const Results& results);
/// Whose energy is in a cost; empty: no meter was read.
std::string_view energy_note(const Results& results);
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
