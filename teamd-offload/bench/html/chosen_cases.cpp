// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/chosen_cases.h"

#include "text/numbers.h"

#include <fmt/format.h>

#include <set>

namespace teamo::bench::html {

Selection::Selection(const Results& results)
    : results_(results), usual_(usual_case(results)), basis_(basis_of(results)) {}

Case Selection::usual(Way way, unsigned ports, bool tso) const {
    auto what = usual_;
    what.way = way;
    what.ports = ports;
    what.tso = tso;
    return what;
}

std::vector<unsigned> Selection::ports(Way way) const {
    std::set<unsigned> found;
    for (const auto* measured : varied(usual(way, 1, true), [](Case& what) {
             what.ports = 1;
             what.tso = true;
         }))
        found.insert(measured->what.ports);
    return {found.begin(), found.end()};
}

std::vector<const Measured*> Selection::varied(const Case& like,
                                               const std::function<void(Case&)>& free) const {
    auto wanted = like;
    free(wanted);
    std::vector<const Measured*> found;
    for (const auto& measured : results_.cases) {
        auto what = measured.what;
        free(what);
        if (!measured.rounds.empty() && what == wanted) found.push_back(&measured);
    }
    return found;
}

std::optional<Spread> Selection::figure(const Measured* measured, Figure figure) const {
    return measured == nullptr ? std::nullopt : spread_of(*measured, basis_, figure);
}

std::optional<double> Selection::median(const Measured* measured, Figure wanted) const {
    const auto spread = figure(measured, wanted);
    return spread ? std::optional(spread->median) : std::nullopt;
}

Bar Selection::bar(const std::string& name, Style style, const Case& what, Figure main, Figure side) const {
    const auto* measured = find(results_, what);
    Bar bar{.name = name,
            .style = style,
            .value = figure(measured, main),
            .side = side == nullptr ? std::nullopt : median(measured, side)};
    if (measured != nullptr) bar.mark = limit_text(measured->limit);
    return bar;
}

Axis axis_of(Figure figure) {
    const auto& metric = metric_of(figure);
    return {.title = std::string(metric.title), .unit = std::string(metric.unit), .digits = metric.digits};
}

std::string ports_name(unsigned ports) { return counted(ports, "port", "ports"); }

} // namespace teamo::bench::html
