// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/table.h"
#include "ctl/report/tables.h"

namespace teamo::ctl {
namespace {

PortCounters total_of(const TeamState& state) {
    PortCounters total;
    for (const auto& port : state.ports) {
        total.tx_packets += port.counters.tx_packets;
        total.tx_bytes += port.counters.tx_bytes;
        total.rx_packets += port.counters.rx_packets;
        total.rx_bytes += port.counters.rx_bytes;
        total.rx_dropped += port.counters.rx_dropped;
    }
    return total;
}

/// Bytes per skb. The datapath counts a GSO packet once, with its full length: above the MTU offloads work.
std::optional<std::uint64_t> mean_size(std::uint64_t bytes, std::uint64_t packets) {
    if (packets == 0) return std::nullopt;
    return (bytes + packets / 2) / packets;
}

json::Value number(std::uint64_t count) { return static_cast<std::int64_t>(count); }

json::Value counters_of(const PortCounters& counters) {
    const auto size_of = [](std::uint64_t bytes, std::uint64_t packets) {
        const auto size = mean_size(bytes, packets);
        return size ? number(*size) : json::Value();
    };
    return json::Object{{"rx_bytes", number(counters.rx_bytes)},
                        {"rx_dropped", number(counters.rx_dropped)},
                        {"rx_mean_skb_bytes", size_of(counters.rx_bytes, counters.rx_packets)},
                        {"rx_packets", number(counters.rx_packets)},
                        {"tx_bytes", number(counters.tx_bytes)},
                        {"tx_mean_skb_bytes", size_of(counters.tx_bytes, counters.tx_packets)},
                        {"tx_packets", number(counters.tx_packets)}};
}

Row row_of(const std::string& name, const PortCounters& counters) {
    const auto size_of = [](std::uint64_t bytes, std::uint64_t packets) {
        const auto size = mean_size(bytes, packets);
        return size ? std::to_string(*size) : std::string("-");
    };
    return {name,
            std::to_string(counters.tx_packets),
            std::to_string(counters.tx_bytes),
            size_of(counters.tx_bytes, counters.tx_packets),
            std::to_string(counters.rx_packets),
            std::to_string(counters.rx_bytes),
            size_of(counters.rx_bytes, counters.rx_packets),
            std::to_string(counters.rx_dropped)};
}

} // namespace

json::Value stats_json(const TeamState& state) {
    json::Object rows;
    for (const auto& port : state.ports)
        rows.push_back({port.name, counters_of(port.counters)});
    return json::Object{
        {"ports", std::move(rows)}, {"team", state.name}, {"total", counters_of(total_of(state))}};
}

std::string stats_text(const TeamState& state) {
    std::vector<Row> rows;
    for (const auto& port : state.ports)
        rows.push_back(row_of(port.name, port.counters));
    rows.push_back(row_of("total", total_of(state)));
    return table_of(
        {"port", "tx packets", "tx bytes", "tx skb", "rx packets", "rx bytes", "rx skb", "rx dropped"}, rows);
}

} // namespace teamo::ctl
