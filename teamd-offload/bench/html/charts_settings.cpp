// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/charts.h"
#include "bench/html/chosen_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace teamo::bench::html {
namespace {

/// A chart with a bar for each value of one setting: with the most ports that were measured with several.
struct Setting {
    std::string_view id, title, lead;
    void (*free)(Case& what);              ///< sets the setting to one value
    std::string (*name)(const Case& what); ///< empty: it is not one of the values to compare
};

std::string binding_name(const Case& what) {
    switch (what.binding) {
    case Binding::unbound: return "not bound";
    case Binding::follow: return "follow";
    case Binding::cross: return "crosswise";
    case Binding::none: break;
    }
    return {};
}

std::string sizes_name(const Case& what) { return fmt::format("{} / {}", what.mtu, what.gso_max); }

const auto settings = std::to_array<Setting>({
    {"binding", "What binding workers brings",
     "Workers bound to the CPUs where their packets arrive (follow), to other ones (crosswise), and not "
     "bound.",
     [](Case& what) { what.binding = Binding::none; }, binding_name},
    {"sizes", "Packet sizes", "By MTU / gso_max_size in bytes; above 65536 it is BIG TCP.",
     [](Case& what) {
         what.mtu = 0;
         what.gso_max = 0;
     },
     sizes_name},
    {"carriers", "Beside other ways to use the ports",
     "The same ports as a team, as a bond, under teamd, and alone without an aggregate.",
     [](Case& what) {
         what.over = Carrier::team;
         what.datapath.clear();
     },
     carrier_words},
});

/// Of this way, with the most ports that have several values; empty: none has.
std::vector<const Measured*> values_of(const Selection& cases, const Setting& setting, Way way) {
    std::vector<const Measured*> best;
    for (const auto& measured : cases.results().cases) {
        auto found = cases.varied(cases.usual(way, measured.what.ports, cases.usual().tso), setting.free);
        std::erase_if(found, [&](const Measured* one) { return setting.name(one->what).empty(); });
        if (found.size() > 1 && (best.empty() || found.front()->what.ports > best.front()->what.ports))
            best = found;
    }
    return best;
}

Chart setting_chart(const Selection& cases, const Setting& setting) {
    Chart chart{.id = std::string(setting.id),
                .title = std::string(setting.title),
                .lead = std::string(setting.lead),
                .main = axis_of(service_demand),
                .side = axis_of(throughput)};
    for (const auto way : all_ways) {
        const auto values = values_of(cases, setting, way);
        if (values.empty()) continue;
        BarGroup group{.name = fmt::format("{}, {}", way_text(way), ports_name(values.front()->what.ports))};
        for (const auto* measured : values) {
            const auto& what = measured->what;
            const bool ours =
                what == cases.usual(way, what.ports, cases.usual().tso) || what.binding == Binding::follow;
            group.bars.push_back(cases.bar(setting.name(what), ours ? Style::now : Style::then, what,
                                           service_demand, throughput));
        }
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

/// Cases of a load, with the most ports, of all carriers; other settings as in the first one.
std::vector<const Measured*> cases_of(const Selection& cases, Load load) {
    const Measured* first = nullptr;
    for (const auto& measured : cases.results().cases)
        if (measured.what.load == load && !measured.rounds.empty() &&
            (first == nullptr || measured.what.ports > first->what.ports))
            first = &measured;
    if (first == nullptr) return {};
    return cases.varied(first->what, [](Case& what) {
        what.over = Carrier::team;
        what.datapath.clear();
    });
}

Chart load_chart(const Selection& cases, Load load, Figure main, const Chart& base) {
    auto chart = base;
    chart.main = axis_of(main);
    chart.side = axis_of(cpu);
    for (const auto* measured : cases_of(cases, load)) {
        const auto& what = measured->what;
        if (chart.groups.empty())
            chart.groups.push_back({.name = fmt::format("{}, {}, {}", load_text(load), way_text(what.way),
                                                        ports_name(what.ports))});
        chart.groups.back().bars.push_back(cases.bar(
            carrier_words(what), what.over == Carrier::team ? Style::now : Style::then, what, main, cpu));
    }
    return chart;
}

Chart latency_chart(const Selection& cases, Load load) {
    Chart chart{.id = fmt::format("latency-{}", static_cast<int>(load)),
                .title = fmt::format("Latency, {}", load_text(load)),
                .lead = "The time within which this part of the requests is answered.",
                .main = {.title = "latency", .unit = "µs"}};
    for (const auto figure : {latency_50, latency_90, latency_99, latency_99_9}) {
        BarGroup group{.name = std::string(metric_of(figure).title)};
        for (const auto* measured : cases_of(cases, load)) {
            const auto& what = measured->what;
            auto bar = cases.bar(carrier_words(what), what.over == Carrier::team ? Style::now : Style::then,
                                 what, figure, nullptr);
            bar.mark.clear();
            if (bar.value) group.bars.push_back(std::move(bar));
        }
        if (!group.bars.empty()) chart.groups.push_back(std::move(group));
    }
    return chart;
}

} // namespace

std::vector<Chart> setting_charts(const Results& results) {
    const Selection cases(results);
    std::vector<Chart> charts;
    for (const auto& setting : settings)
        charts.push_back(setting_chart(cases, setting));
    return charts;
}

std::vector<Chart> load_charts(const Results& results) {
    const Selection cases(results);
    return {load_chart(cases, Load::file, file_time,
                       {.id = "files",
                        .title = "Elapsed time of a transfer",
                        .lead = "Files of 6 MB by sendfile(), one after the other on each connection."}),
            load_chart(cases, Load::http, operations,
                       {.id = "http",
                        .title = "Short HTTP requests",
                        .lead = "Many connections with one short request each."}),
            latency_chart(cases, Load::request), latency_chart(cases, Load::http)};
}

std::vector<Chart> charts_of(const Results& results) {
    std::vector<Chart> charts;
    for (const auto part :
         {throughput_charts, segmentation_charts, efficiency_charts, setting_charts, load_charts})
        std::ranges::move(part(results), std::back_inserter(charts));
    return charts;
}

} // namespace teamo::bench::html
