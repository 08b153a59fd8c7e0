// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/live.h"

#include "ctl/report/state_tables.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

constexpr double least_kibibytes = 100; // per second: below that other work decides the figures

json::Value fraction(double part, double whole) {
    return whole > 0 ? json::Value(part / whole) : json::Value();
}
json::Value if_known(const std::optional<double>& figure) {
    return figure ? json::Value(*figure) : json::Value();
}

json::Object rates_json(const PortRates& rates, const LiveFigures& figures) {
    const auto& team = figures.team;
    const auto mean = [&figures](double bytes, double packets) {
        return packets < 1 || !figures.counts_skbs ? json::Value() : json::rounded(bytes / packets);
    };
    return {{"rx_bytes_per_second", json::rounded(rates.rx_bytes)},
            {"rx_mean_skb_bytes", mean(rates.rx_bytes, rates.rx_packets)},
            {"rx_packets_per_second", json::rounded(rates.rx_packets)},
            {"rx_share", fraction(rates.rx_bytes, team.rx_bytes)},
            {"tx_bytes_per_second", json::rounded(rates.tx_bytes)},
            {"tx_mean_skb_bytes", mean(rates.tx_bytes, rates.tx_packets)},
            {"tx_packets_per_second", json::rounded(rates.tx_packets)},
            {"tx_share", fraction(rates.tx_bytes, team.tx_bytes)}};
}

double sum_of_interrupts(const LiveFigures& figures) {
    double sum = 0;
    for (const auto& [cpu, load] : figures.cpus)
        sum += load.interrupts;
    return sum;
}

} // namespace

std::string mean_skb(double bytes, double packets, bool counts_skbs) {
    return packets < 1 || !counts_skbs ? "-" : fmt::format("{:.0f}", bytes / packets);
}

double seconds_between(const Reading& earlier, const Reading& later) {
    return std::chrono::duration<double>(later.at - earlier.at).count();
}

PortRates rates_of(const PortStatus& port, const Reading& earlier, double seconds) {
    if (seconds <= 0) return {};
    const auto rate = [&](std::uint64_t PortCounters::* counter) {
        return static_cast<double>(growth_of(counter, port, earlier.state).value_or(0)) / seconds;
    };
    return {.tx_bytes = rate(&PortCounters::tx_bytes),
            .tx_packets = rate(&PortCounters::tx_packets),
            .rx_bytes = rate(&PortCounters::rx_bytes),
            .rx_packets = rate(&PortCounters::rx_packets)};
}

std::map<unsigned, CpuLoad> loads_between(const Reading& earlier, const Reading& later) {
    std::map<unsigned, CpuLoad> loads;
    const auto elapsed = std::chrono::duration<double>(later.cpus.at - earlier.cpus.at).count();
    if (elapsed <= 0) return loads;
    for (const auto& [cpu, time] : times_between(earlier.cpus, later.cpus, ticks_per_second())) {
        const auto whole = std::max(elapsed, time.busy()); // a tick can be more than the clock
        loads[cpu] = {.work = (time.user + time.system) / whole,
                      .interrupts = (time.irq + time.softirq) / whole};
    }
    return loads;
}

LiveFigures live_figures(const Reading& earlier, const Reading& later) {
    LiveFigures figures;
    figures.seconds = seconds_between(earlier, later);
    figures.counts_skbs = later.state.counts_by_program;
    figures.cpus = loads_between(earlier, later);
    for (const auto& port : later.state.ports) {
        figures.ports.push_back({port.name, rates_of(port, earlier, figures.seconds)});
        for (const auto rate :
             {&PortRates::tx_bytes, &PortRates::tx_packets, &PortRates::rx_bytes, &PortRates::rx_packets})
            figures.team.*rate += figures.ports.back().rates.*rate;
    }
    for (const auto& [cpu, load] : figures.cpus)
        figures.busy_cpus += load.work + load.interrupts;
    const double bytes = figures.team.tx_bytes + figures.team.rx_bytes;
    if (bytes >= least_kibibytes * bytes_per_kibibyte && figures.busy_cpus > 0) {
        figures.service_demand = service_demand(figures.busy_cpus, bytes);
        figures.efficiency = bytes / bytes_per_megabit / (100 * figures.busy_cpus);
    }
    return figures;
}

std::string live_text(const std::string& team, const LiveFigures& figures) {
    std::vector<Row> rows;
    const auto add = [&](const std::string& name, const PortRates& rates) {
        rows.push_back({name, fmt::format("{:.1f}", rates.tx_bytes / bytes_per_megabit),
                        share(rates.tx_bytes, figures.team.tx_bytes),
                        mean_skb(rates.tx_bytes, rates.tx_packets, figures.counts_skbs),
                        fmt::format("{:.1f}", rates.rx_bytes / bytes_per_megabit),
                        share(rates.rx_bytes, figures.team.rx_bytes),
                        mean_skb(rates.rx_bytes, rates.rx_packets, figures.counts_skbs)});
    };
    for (const auto& [name, rates] : figures.ports)
        add(name, rates);
    add("total", figures.team);
    auto text = fmt::format("{}: {:.1f} s\n", team, figures.seconds) +
                table_of({"port", "tx Mbit/s", "share", "tx B/skb", "rx Mbit/s", "share", "rx B/skb"},
                         std::move(rows));
    if (figures.cpus.empty()) return text;

    const auto interrupts = sum_of_interrupts(figures);
    rows.clear();
    for (const auto& [cpu, load] : figures.cpus)
        rows.push_back({std::to_string(cpu), fmt::format("{:.0f} %", 100 * (load.work + load.interrupts)),
                        fmt::format("{:.0f} %", 100 * load.interrupts), share(load.interrupts, interrupts)});
    text += "\n" + table_of({"CPU", "busy", "interrupts", "share"}, std::move(rows));
    if (!figures.service_demand)
        return text + "\nservice demand and efficiency: too little traffic to compute them\n";
    return text +
           fmt::format(
               "\nservice demand: {:.2f} us of CPU time for a KiB; efficiency: {:.1f} Mbit/s for a per "
               "cent of a CPU (the whole machine, other work included)\n",
               *figures.service_demand, *figures.efficiency);
}

json::Value live_json(const std::string& team, const LiveFigures& figures) {
    json::Object ports, cpus;
    for (const auto& [name, rates] : figures.ports)
        ports.push_back({name, rates_json(rates, figures)});
    const auto interrupts = sum_of_interrupts(figures);
    for (const auto& [cpu, load] : figures.cpus)
        cpus.push_back(
            {std::to_string(cpu), json::Object{{"busy", load.work + load.interrupts},
                                               {"interrupts", load.interrupts},
                                               {"interrupt_share", fraction(load.interrupts, interrupts)}}});
    return json::Object{{"busy_cpus", figures.busy_cpus},
                        {"cpus", std::move(cpus)},
                        {"mbit_per_cpu_percent", if_known(figures.efficiency)},
                        {"ports", std::move(ports)},
                        {"seconds", figures.seconds},
                        {"service_demand_us_per_kib", if_known(figures.service_demand)},
                        {"team", team},
                        {"total", rates_json(figures.team, figures)}};
}

} // namespace teamo::ctl
