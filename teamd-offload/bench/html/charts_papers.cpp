// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/charts.h"
#include "bench/html/chosen_cases.h"
#include "bench/papers.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::bench::html {
namespace {

/// A figure of a paper: no rounds, no limit.
Bar paper_bar(const std::string& name, std::optional<double> value) {
    Bar bar{.name = name, .style = Style::paper};
    if (value) bar.value = Spread{.median = *value, .low = *value, .high = *value, .rounds = 1};
    return bar;
}

Chart throughput_chart(const Selection& cases, Way way) {
    Chart chart{
        .id = fmt::format("throughput-{}", static_cast<int>(way)),
        .title = fmt::format("Throughput and CPU by ports, {}", way_text(way)),
        .lead =
            "Beside APA: TSO off, ports of 1000 Mbit/s; its CPU is not known in numbers. The word at a bar "
            "names what limits.",
        .main = axis_of(throughput),
        .side = axis_of(cpu),
        .connected = true};
    for (const auto ports : cases.ports(way)) {
        BarGroup group{.name = ports_name(ports)};
        if (const auto paper = apa_throughput(way, ports))
            group.bars.push_back(paper_bar("APA, TSO off", paper));
        for (const bool tso : {false, true})
            group.bars.push_back(cases.bar(tso ? "ours, TSO on" : "ours, TSO off",
                                           tso ? Style::now : Style::then, cases.usual(way, ports, tso),
                                           throughput, cpu));
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

Chart demand_chart(const Selection& cases, const std::vector<Comparison>& all, Way way) {
    Chart chart{
        .id = fmt::format("demand-{}", static_cast<int>(way)),
        .title = fmt::format("Service demand with TSO off and on, {}", way_text(way)),
        .lead =
            "Beside figure 2 of HP TSO. The marks show how much TSO takes off; of the paper that alone is "
            "known.",
        .main = axis_of(service_demand),
        .side = Axis{.title = "TSO saves", .unit = "%"},
        .connected = true};
    for (const auto ports : cases.ports(way)) {
        BarGroup group{.name = ports_name(ports)};
        group.bars.push_back(
            cases.bar("TSO off", Style::then, cases.usual(way, ports, false), service_demand, nullptr));
        const auto what = cases.usual(way, ports, true);
        auto on = cases.bar("TSO on", Style::now, what, service_demand, nullptr);
        if (const auto* found = comparison_of(all, Subject::tso_demand, what))
            on.side = 100 * (1 - found->ratio.median);
        group.bars.push_back(std::move(on));
        if (const auto saving = hp_tso_saving(way, ports)) {
            auto paper = paper_bar("HP TSO", std::nullopt);
            paper.side = 100 * *saving;
            paper.mark = "not known";
            group.bars.push_back(std::move(paper));
        }
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

Spread gain_of(const Spread& ratio) {
    const auto gain = [](double of) { return 100 * (of - 1); };
    return {.median = gain(ratio.median),
            .low = gain(ratio.low),
            .high = gain(ratio.high),
            .rounds = ratio.rounds};
}

Chart gain_chart(const Selection& cases, const std::vector<Comparison>& all) {
    Chart chart{
        .id = "tso-throughput",
        .title = "Throughput that TSO adds",
        .lead =
            "As figure 3 of HP TSO, whose numbers are not known; beside Linux 2.5.33 with one port. Where "
            "the shaper or the link limits with TSO off too, TSO adds nothing: it saves CPU.",
        .main = {.title = "throughput that TSO adds", .unit = "%", .digits = 1}};
    for (const auto way : all_ways) {
        BarGroup group{.name = std::string(way_text(way))};
        for (const auto ports : cases.ports(way)) {
            const auto* found = comparison_of(all, Subject::tso_throughput, cases.usual(way, ports, true));
            if (found == nullptr) continue;
            if (const auto paper = linux_tso_gain(way, ports))
                group.bars.push_back(paper_bar("Linux, " + ports_name(ports), 100 * *paper));
            auto bar = cases.bar(ports_name(ports), Style::now, found->what, throughput, nullptr);
            bar.value = gain_of(found->ratio);
            group.bars.push_back(std::move(bar));
        }
        if (!group.bars.empty()) chart.groups.push_back(std::move(group));
    }
    return chart;
}

/// "2 KiB".
std::string size_name(std::uint32_t bytes) {
    return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

/// The most ports with which this way was measured with several message sizes; 0: none.
unsigned ports_with_sizes(const Selection& cases, Way way) {
    unsigned most = 0;
    for (const auto& measured : cases.results().cases) {
        auto like = cases.usual(way, measured.what.ports, cases.usual().tso);
        const auto found = cases.varied(like, [](Case& what) { what.message = 0; });
        if (found.size() > 1) most = std::max(most, measured.what.ports);
    }
    return most;
}

Chart efficiency_chart(const Selection& cases) {
    Chart chart{
        .id = "pe-index",
        .title = "PE index over the message size",
        .lead = "As TOE, which found the index of teamed ports virtually identical to that of the same ports "
                "unteamed.",
        .main = axis_of(pe_index),
        .side = axis_of(cpu),
        .connected = true};
    for (const auto way : all_ways) {
        const auto ports = ports_with_sizes(cases, way);
        auto sized =
            cases.varied(cases.usual(way, ports, cases.usual().tso), [](Case& what) { what.message = 0; });
        std::ranges::sort(sized, {}, [](const Measured* one) { return one->what.message; });
        for (const auto* measured : sized) {
            const auto& what = measured->what;
            BarGroup group{.name = fmt::format("{}, {}, messages of {}", way_text(way), ports_name(ports),
                                               size_name(what.message))};
            group.bars.push_back(cases.bar(carrier_words(what), Style::now, what, pe_index, cpu));
            auto bare = what;
            bare.over = Carrier::ports;
            bare.datapath.clear();
            if (find(cases.results(), bare) != nullptr && bare != what)
                group.bars.push_back(cases.bar("ports alone", Style::then, bare, pe_index, cpu));
            group.series = way_text(way);
            chart.groups.push_back(std::move(group));
        }
    }
    return chart;
}

/// The way that i/o's are shown for: transmitting, if it was measured.
Way first_way(const Selection& cases) {
    const auto* found = std::ranges::find_if(all_ways, [&](Way way) { return !cases.ports(way).empty(); });
    return found == all_ways.end() ? Way::transmit : *found;
}

Chart io_chart(const Selection& cases) {
    const auto way = first_way(cases);
    Chart chart{
        .id = "io",
        .title = fmt::format("I/o's against bandwidth, {}", way_text(way)),
        .lead = "FEP estimates i/o's as size / 1024 x 2. Beside it the packets that really pass between the "
                "kernel and the ports, with TSO off and on.",
        .main = axis_of(io_measured),
        .side = axis_of(throughput),
        .connected = true};
    for (const auto ports : cases.ports(way)) {
        BarGroup group{.name = ports_name(ports)};
        const auto usual = cases.usual(way, ports, cases.usual().tso);
        group.bars.push_back(cases.bar("FEP, by size", Style::paper, usual, io_by_size, nullptr));
        group.bars.back().mark.clear();
        for (const bool tso : {false, true})
            group.bars.push_back(cases.bar(tso ? "ours, TSO on" : "ours, TSO off",
                                           tso ? Style::now : Style::then, cases.usual(way, ports, tso),
                                           io_measured, throughput));
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

Chart network_chart(const Selection& cases) {
    Chart chart{
        .id = "network-cpu",
        .title = "Network against application CPU",
        .lead = fmt::format(
            "As FEP, which moves the network's part off the host. Under a load generator the system time "
            "is the network's too. With the most ports, TSO {}.",
            cases.usual().tso ? "on" : "off"),
        .main = {.title = "CPU", .unit = "%", .digits = 1}};
    for (const auto way : all_ways) {
        const auto ports = cases.ports(way);
        if (ports.empty()) continue;
        const auto what = cases.usual(way, ports.back(), cases.usual().tso);
        BarGroup group{.name = fmt::format("{}, {}", way_text(way), ports_name(ports.back()))};
        group.bars = {cases.bar("application", Style::other, what, cpu_user, nullptr),
                      cases.bar("system calls", Style::now, what, cpu_system, nullptr),
                      cases.bar("interrupts", Style::then, what, cpu_softirq, nullptr)};
        for (auto& bar : group.bars)
            bar.mark.clear();
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

} // namespace

std::vector<Chart> throughput_charts(const Results& results) {
    const Selection cases(results);
    std::vector<Chart> charts;
    for (const auto way : all_ways)
        charts.push_back(throughput_chart(cases, way));
    return charts;
}

std::vector<Chart> segmentation_charts(const Results& results) {
    const Selection cases(results);
    const auto all = comparisons(results);
    std::vector<Chart> charts;
    for (const auto way : all_ways)
        charts.push_back(demand_chart(cases, all, way));
    charts.push_back(gain_chart(cases, all));
    return charts;
}

std::vector<Chart> efficiency_charts(const Results& results) {
    const Selection cases(results);
    return {efficiency_chart(cases), io_chart(cases), network_chart(cases)};
}

} // namespace teamo::bench::html
