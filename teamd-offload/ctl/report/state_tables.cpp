// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state_tables.h"

#include "control/subsystem_documents.h"
#include "text/numbers.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using json::Object;
using json::Value;

constexpr std::size_t max_moves_shown = 10;

std::uint32_t sum_of_buckets(const TeamState& state) {
    std::uint32_t sum = 0;
    for (const auto& port : state.ports)
        sum += port.buckets;
    return sum;
}

std::string speed_of(const PortStatus& port) {
    return port.link.speed ? fmt::format("{} Mbit/s", *port.link.speed) : std::string("-");
}

Row link_cells(const PortStatus& port) {
    return {port.name, port.link_up ? "up" : "down", speed_of(port), port.transmits ? "yes" : "no"};
}

/// For teams whose load is not measured by bucket. Only runners with buckets have columns for them.
std::string plain_table(const TeamState& state) {
    const auto all = sum_of_buckets(state);
    Row titles{"port", "link", "speed", "transmits"};
    if (all > 0) titles.insert(titles.end(), {"buckets", "share"});
    std::vector<Row> rows;
    for (const auto& port : state.ports) {
        auto row = link_cells(port);
        if (all > 0) row.insert(row.end(), {std::to_string(port.buckets), share(port.buckets, all)});
        rows.push_back(std::move(row));
    }
    return table_of(titles, rows);
}

bool is_by_cpu(const BalanceStatus& balance) { return has(balance.tx_hash, HashField::cpu); }

/// "2 at 28 %", or "-" for a port without interrupts.
std::string interrupts_of(const PortBalance& port) {
    if (port.interrupt_cpus.empty()) return "-";
    return fmt::format("{} at {:.0f} %", teamo::text_of(port.interrupt_cpus), 100 * port.cpu_load);
}

std::string load_table(const TeamState& state) {
    const auto& balance = *state.balance;
    const bool by_cpu = is_by_cpu(balance);
    std::vector<Row> rows;
    for (const auto& port : state.ports) {
        const auto* found = find_balance(state, port.name);
        const auto load = found ? *found : PortBalance{};
        auto row = link_cells(port);
        const auto cpus = load.cpus.empty() ? "-" : teamo::text_of(load.cpus);
        row.insert(row.end(),
                   {by_cpu ? cpus : std::to_string(port.buckets), load.rate >= 0 ? megabits(load.rate) : "-",
                    load.rate >= 0 ? share(load.rate, load.capacity) : "-",
                    balance.config.on && load.planned > 0 ? megabits(load.planned) : "-",
                    balance.counted ? share(load.bulk, load.bytes) : "-", load.segments ? "on" : "off",
                    interrupts_of(load)});
        rows.push_back(std::move(row));
    }
    return table_of({"port", "link", "speed", "transmits", by_cpu ? "sent by CPU" : "buckets", "load",
                     "of speed", "planned", "bulk", "TSO", "IRQ CPU"},
                    rows);
}

std::string mode_line(const BalanceStatus& balance) {
    std::string line = "balancing: ";
    if (is_by_cpu(balance))
        line += "none, the sending CPU decides (tx_hash has \"cpu\")";
    else if (!balance.config.on)
        line += "off (runner.tx_balancer is not configured)";
    else
        line += fmt::format("on, every {}, by loads{}", duration(balance.config.interval),
                            balance.config.aware ? ", offloads and interrupt CPUs" : " and speeds");
    if (balance.frozen) line += "; frozen, no bucket is moved because of its load";
    if (!balance.counted) line += "; the datapath does not count by bucket, so bulk is not known";
    return line + "\n";
}

std::string lost_links_line(const LinkSight& sight) {
    return sight.sees
               ? "after a lost link: the datapath uses another port at once, also while no daemon runs\n"
               : fmt::format(
                     "after a lost link: packets for that port are lost until another port is chosen; {}\n",
                     sight.reason);
}

std::string moves_table(const std::vector<MoveStatus>& moves) {
    std::vector<Row> rows;
    for (const auto& move : moves) {
        if (rows.size() == max_moves_shown) break;
        rows.push_back({std::to_string(move.bucket), move.from, move.to, std::string(name_of(move.reason)),
                        move.gain > 0 ? fmt::format("{:.1f} %", 100 * move.gain) : std::string("-"),
                        std::string(name_of(move.end)), duration(move.waited), duration(move.ago)});
    }
    return table_of({"bucket", "from", "to", "why", "gain", "ended", "waited", "ago"}, rows);
}

Value port_json(const TeamState& state, const PortStatus& port) {
    Object row{{"buckets", port.buckets},
               {"link_up", port.link_up},
               {"speed", port.link.speed ? Value(*port.link.speed) : Value(-1)},
               {"transmits", port.transmits}};
    if (const auto* load = find_balance(state, port.name))
        std::ranges::move(*control::port_balance_document(*load).object(), std::back_inserter(row));
    return row;
}

PortCounters total_of(const TeamState& state) {
    PortCounters total;
    for (const auto& port : state.ports)
        for (const auto counter :
             {&PortCounters::tx_packets, &PortCounters::tx_bytes, &PortCounters::rx_packets,
              &PortCounters::rx_bytes, &PortCounters::rx_dropped})
            total.*counter += port.counters.*counter;
    return total;
}

/// Bytes per skb; null without packets. The datapath counts a GSO packet once, with its full length: above
/// the MTU offloads work.
Value mean_size(std::uint64_t bytes, std::uint64_t packets) {
    return packets == 0 ? Value() : json::counted((bytes + packets / 2) / packets);
}

/// `counts_skbs`: not if cards count, which see the packets on the wire.
Value counters_of(const PortCounters& counters, bool counts_skbs) {
    const auto mean = [counts_skbs](std::uint64_t bytes, std::uint64_t packets) {
        return counts_skbs ? mean_size(bytes, packets) : Value();
    };
    return Object{{"rx_bytes", json::counted(counters.rx_bytes)},
                  {"rx_dropped", json::counted(counters.rx_dropped)},
                  {"rx_mean_skb_bytes", mean(counters.rx_bytes, counters.rx_packets)},
                  {"rx_packets", json::counted(counters.rx_packets)},
                  {"tx_bytes", json::counted(counters.tx_bytes)},
                  {"tx_mean_skb_bytes", mean(counters.tx_bytes, counters.tx_packets)},
                  {"tx_packets", json::counted(counters.tx_packets)}};
}

Row row_of(const std::string& name, const PortCounters& counters, bool counts_skbs) {
    const auto document = counters_of(counters, counts_skbs);
    Row row{name};
    for (const auto* key : {"tx_packets", "tx_bytes", "tx_mean_skb_bytes", "rx_packets", "rx_bytes",
                            "rx_mean_skb_bytes", "rx_dropped"}) {
        const auto* number = json::child(document, key).integer();
        row.push_back(number == nullptr ? "-" : std::to_string(*number));
    }
    return row;
}

} // namespace

std::string balance_text(const TeamState& state) {
    if (!state.balance) return plain_table(state);
    auto text = load_table(state) + mode_line(*state.balance) + lost_links_line(state.link_sight);
    if (!state.balance->moves.empty()) text += "last moves:\n" + moves_table(state.balance->moves);
    return text;
}

json::Value balance_json(const TeamState& state) {
    Object ports;
    for (const auto& port : state.ports)
        ports.push_back({port.name, port_json(state, port)});
    Value document =
        Object{{"buckets", sum_of_buckets(state)}, {"ports", std::move(ports)}, {"team", state.name}};
    const auto& balance = json::child(state.document, "balance");
    for (const auto* key : {"aware", "counted", "frozen", "interval_ms", "moves", "on", "tx_hash"})
        if (const auto* value = balance.find(key)) document.set(key, *value);
    return document;
}

json::Value stats_json(const TeamState& state) {
    const bool skbs = state.counts_by_program;
    Object rows;
    for (const auto& port : state.ports)
        rows.push_back({port.name, counters_of(port.counters, skbs)});
    return Object{
        {"ports", std::move(rows)}, {"team", state.name}, {"total", counters_of(total_of(state), skbs)}};
}

std::string stats_text(const TeamState& state) {
    const bool skbs = state.counts_by_program;
    std::vector<Row> rows;
    for (const auto& port : state.ports)
        rows.push_back(row_of(port.name, port.counters, skbs));
    rows.push_back(row_of("total", total_of(state), skbs));
    return table_of(
        {"port", "tx packets", "tx bytes", "tx B/skb", "rx packets", "rx bytes", "rx B/skb", "rx dropped"},
        rows);
}

} // namespace teamo::ctl
