// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which cases a chart shows: those like the usual case, with one or two members varied.
#pragma once

#include "bench/compare.h"
#include "bench/html/chart.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace teamo::bench::html {

inline constexpr std::array all_ways{Way::transmit, Way::receive, Way::both};

class Selection {
public:
    explicit Selection(const Results& results);

    const Results& results() const { return results_; }
    const Case& usual() const { return usual_; }
    Case usual(Way way, unsigned ports, bool tso) const;

    /// Numbers of ports that the usual case was measured with this way, TSO on or off; ascending.
    std::vector<unsigned> ports(Way way) const;

    /// Cases with rounds that equal `like` after `free` has set the varied members of both alike.
    std::vector<const Measured*> varied(const Case& like, const std::function<void(Case&)>& free) const;

    std::optional<Spread> figure(const Measured* measured, Figure figure) const;
    std::optional<double> median(const Measured* measured, Figure figure) const;

    /// A bar of that case; without value if it was not measured.
    Bar bar(const std::string& name, Style style, const Case& what, Figure main, Figure side) const;

private:
    const Results& results_;
    Case usual_;
    Basis basis_;
};

/// Title and unit of a metric.
Axis axis_of(Figure figure);
/// "8 ports".
std::string ports_name(unsigned ports);

} // namespace teamo::bench::html
