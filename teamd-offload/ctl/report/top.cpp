// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/top.h"

#include "ctl/report/state_tables.h"
#include "text/numbers.h"
#include "json/fields.h"
#include "json/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace teamo::ctl {
namespace {

std::string active_port(const TeamState& state) {
    return json::text(json::child(state.document, "runner"), "active_port");
}

/// "2: 28 %": where the port's interrupts arrive, and how busy that CPU is.
std::string interrupt_cpus_of(const PortStatus& port, const Reading& earlier, const Reading& later) {
    if (!later.state.interrupts) return "-";
    for (const auto& one : later.state.interrupts->ports) {
        if (one.name != port.name) continue;
        const auto cpus = arrival_cpus(one);
        if (cpus.empty()) return "-";
        double busiest = 0;
        const auto loads = loads_between(earlier, later);
        for (const auto cpu : cpus)
            if (const auto load = loads.find(cpu); load != loads.end())
                busiest = std::max(busiest, load->second.work + load->second.interrupts);
        return fmt::format("{} {:.0f} %", teamo::text_of(cpus), 100 * busiest);
    }
    return "-";
}

struct PortLine {
    const PortStatus* port;
    PortRates rates;
};

std::vector<PortLine> lines_of(const Reading& earlier, const Reading& later, TopOrder order) {
    const double seconds = seconds_between(earlier, later);
    std::vector<PortLine> lines;
    for (const auto& port : later.state.ports)
        lines.push_back({&port, rates_of(port, earlier, seconds)});
    const auto by = [order](const PortLine& line) {
        return order == TopOrder::sent ? -line.rates.tx_bytes : -line.rates.rx_bytes;
    };
    if (order != TopOrder::configured) std::ranges::stable_sort(lines, {}, by);
    return lines;
}

/// A wide terminal has room for one more column.
std::string ports_table(const std::vector<PortLine>& lines, const Reading& earlier, const Reading& later,
                        const TopView& view) {
    constexpr std::size_t wide = 100, rx_size = 7;
    const bool is_wide = view.columns >= wide;
    std::vector<Row> rows;
    const auto active = active_port(later.state);
    const bool counts_skbs = later.state.counts_by_program;
    for (const auto& [port, rates] : lines)
        rows.push_back({port->name + (port->name == active ? "*" : ""),
                        !port->link_up    ? "down"
                        : port->transmits ? "carries"
                                          : "up",
                        fmt::format("{:.1f}", rates.tx_bytes / bytes_per_megabit),
                        fmt::format("{:.1f}", rates.rx_bytes / bytes_per_megabit),
                        fmt::format("{:.0f}", rates.tx_packets), fmt::format("{:.0f}", rates.rx_packets),
                        mean_skb(rates.tx_bytes, rates.tx_packets, counts_skbs),
                        mean_skb(rates.rx_bytes, rates.rx_packets, counts_skbs),
                        std::to_string(port->buckets), interrupt_cpus_of(*port, earlier, later)});
    Row titles{"PORT",   "STATE",  "TX Mb/s", "RX Mb/s", "TX p/s",
               "RX p/s", "TX skb", "RX skb",  "BUCKETS", "IRQ CPU"};
    if (!is_wide) {
        titles.erase(titles.begin() + rx_size);
        for (auto& row : rows)
            row.erase(row.begin() + rx_size);
    }
    return table_of(titles, std::move(rows));
}

std::string workers_table(const TeamState& state) {
    if (!state.workers || state.workers->workers.empty()) return "";
    std::vector<Row> rows;
    for (const auto& worker : state.workers->workers)
        rows.push_back({json::printable(worker.worker.command), std::to_string(worker.worker.id.pid),
                        std::string(name_of(worker.policy)),
                        worker.cpus.empty() ? "-" : teamo::text_of(worker.cpus),
                        fmt::format("{:.1f}", static_cast<double>(worker.traffic.bytes) / bytes_per_megabit),
                        fmt::format("{:.0f} %", 100 * worker.work)});
    return table_of({"WORKER", "PID", "POLICY", "BOUND TO", "RX Mb/s", "CPU"}, rows);
}

std::string summary(const TeamState& state, const std::vector<PortLine>& lines) {
    const auto sum = [&lines](double PortRates::* member) {
        return std::accumulate(lines.begin(), lines.end(), 0.0, [member](double all, const PortLine& line) {
            return all + line.rates.*member;
        });
    };
    const auto carrying = std::ranges::count_if(state.ports, &PortStatus::transmits);
    return fmt::format("{} - {} over {} ({}), {} of {} ports carry\n"
                       "sends {} in {:.0f} packets/s, receives {} in {:.0f} packets/s\n",
                       state.name, state.runner, state.datapath, state.device_kind, carrying,
                       state.ports.size(), megabits(sum(&PortRates::tx_bytes)), sum(&PortRates::tx_packets),
                       megabits(sum(&PortRates::rx_bytes)), sum(&PortRates::rx_packets));
}

/// Cuts what does not fit.
std::string fitted(std::string_view text, const TopView& view) {
    std::string screen;
    for (std::size_t row = 0; row < view.rows && !text.empty(); ++row) {
        const auto end = std::min(text.find('\n'), text.size());
        screen.append(text.substr(0, std::min(end, view.columns)));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (row + 1 < view.rows) screen += '\n';
    }
    return screen;
}

struct TeamLine {
    double sent = 0, received = 0;
    Row row;
};

TeamLine line_of(const std::string& team, const Reading& earlier, const Reading& later) {
    const auto figures = live_figures(earlier, later);
    const auto& state = later.state;
    std::string fullest = "-";
    std::vector<std::string> remarks;
    double most = -1;
    for (std::size_t index = 0; index < state.ports.size(); ++index) {
        const auto& port = state.ports[index];
        const auto& rates = figures.ports[index].rates;
        if (!port.loss.what.empty()) remarks.push_back(fmt::format("{}: {}", port.name, port.loss.what));
        const auto speed = port.link.speed.value_or(0) * bytes_per_megabit;
        const auto load = std::max(rates.tx_bytes, rates.rx_bytes);
        if (!port.link_up || speed <= 0 || load / speed <= most) continue;
        most = load / speed;
        fullest = fmt::format("{} {}", port.name, share(load, speed));
    }
    return {
        figures.team.tx_bytes,
        figures.team.rx_bytes,
        {team, state.runner, state.datapath,
         fmt::format("{}/{}", std::ranges::count_if(state.ports, &PortStatus::transmits), state.ports.size()),
         fmt::format("{:.1f}", figures.team.tx_bytes / bytes_per_megabit),
         fmt::format("{:.1f}", figures.team.rx_bytes / bytes_per_megabit), fullest,
         remarks.empty() ? "-" : joined(remarks)}};
}

template <class Status>
void add_repairs(std::vector<std::string>& events, const std::vector<Status>& before,
                 const std::vector<Status>& after, std::string_view what) {
    for (const auto& one : after)
        for (const auto& old : before)
            if (old.name == one.name && one.repaired > old.repaired)
                events.push_back(fmt::format("{} of {} set again", what, one.name));
}

} // namespace

std::vector<std::string> top_events(const TeamState& earlier, const TeamState& later) {
    std::vector<std::string> events;
    for (const auto& port : later.ports) {
        const auto* before = find_port(earlier, port.name);
        if (before == nullptr)
            events.push_back(fmt::format("{} joined", port.name));
        else if (before->transmits != port.transmits)
            events.push_back(
                fmt::format("{} {}", port.name, port.transmits ? "carries" : "no longer carries"));
        if (before != nullptr && before->loss.what.empty() && !port.loss.what.empty())
            events.push_back(fmt::format("{}: {}", port.name, port.loss.what));
    }
    for (const auto& port : earlier.ports)
        if (find_port(later, port.name) == nullptr) events.push_back(fmt::format("{} left", port.name));
    if (const auto active = active_port(later); active != active_port(earlier) && !active.empty())
        events.push_back(fmt::format("active port {}", active));
    if (earlier.offload && later.offload)
        add_repairs(events, earlier.offload->ports, later.offload->ports, "offloads");
    if (earlier.interrupts && later.interrupts)
        add_repairs(events, earlier.interrupts->ports, later.interrupts->ports, "interrupts");
    if (earlier.balance && later.balance && later.balance->moved > earlier.balance->moved)
        events.push_back(fmt::format(
            "{} moved", counted(later.balance->moved - earlier.balance->moved, "bucket", "buckets")));
    return events;
}

std::string top_text(const Reading& earlier, const Reading& later, const std::deque<std::string>& events,
                     const TopView& view) {
    const auto lines = lines_of(earlier, later, view.order);
    auto text = summary(later.state, lines) + "\n" + ports_table(lines, earlier, later, view);
    if (const auto workers = view.workers ? workers_table(later.state) : ""; !workers.empty())
        text += "\n" + workers;
    if (view.events && !events.empty()) {
        text += "\nEVENTS\n";
        for (const auto& event : events)
            text += event + "\n";
    }
    return fitted(text, view);
}

std::string top_text_of_teams(const TeamReadings& earlier, const TeamReadings& later, const TopView& view) {
    std::vector<TeamLine> lines;
    for (const auto& [team, reading] : later) {
        const auto before = earlier.find(team);
        const bool is_new = before == earlier.end() || !before->second;
        lines.push_back(reading ? line_of(team, is_new ? *reading : *before->second, *reading)
                                : TeamLine{.row{team, "-", "-", "-", "-", "-", "-", "does not answer"}});
    }
    if (view.order != TopOrder::configured)
        std::ranges::stable_sort(lines, std::greater{},
                                 view.order == TopOrder::sent ? &TeamLine::sent : &TeamLine::received);
    double sent = 0, received = 0;
    std::vector<Row> rows;
    for (auto& line : lines) {
        sent += line.sent;
        received += line.received;
        rows.push_back(std::move(line.row));
    }
    return fitted(
        fmt::format("{}: sends {}, receives {}\n\n", counted(rows.size(), "team", "teams"), megabits(sent),
                    megabits(received)) +
            table_of({"TEAM", "RUNNER", "DATAPATH", "CARRY", "TX Mb/s", "RX Mb/s", "FULLEST", "REMARK"},
                     rows),
        view);
}

} // namespace teamo::ctl
