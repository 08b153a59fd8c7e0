// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "ctl/datapath_ports.h"
#include "ctl/output.h"
#include "ctl/table.h"

namespace teamo::ctl {
namespace {

using Ports = std::vector<DatapathPort>;

DatapathPort total_of(const Ports& ports) {
    DatapathPort total{.name = "total"};
    for (const auto& port : ports) {
        total.tx_packets += port.tx_packets;
        total.tx_bytes += port.tx_bytes;
        total.rx_packets += port.rx_packets;
        total.rx_bytes += port.rx_bytes;
        total.rx_dropped += port.rx_dropped;
    }
    return total;
}

/// Bytes per skb: the datapath counts a GSO packet once and whole, so above the MTU offloads are at work.
std::optional<std::int64_t> mean_size(std::int64_t bytes, std::int64_t packets) {
    if (packets <= 0) return std::nullopt;
    return (bytes + packets / 2) / packets;
}

json::Value counters_of(const DatapathPort& port) {
    const auto size_of = [](std::int64_t bytes, std::int64_t packets) {
        const auto size = mean_size(bytes, packets);
        return size ? json::Value(*size) : json::Value();
    };
    return json::Object{{"rx_bytes", port.rx_bytes},
                        {"rx_dropped", port.rx_dropped},
                        {"rx_mean_skb_bytes", size_of(port.rx_bytes, port.rx_packets)},
                        {"rx_packets", port.rx_packets},
                        {"tx_bytes", port.tx_bytes},
                        {"tx_mean_skb_bytes", size_of(port.tx_bytes, port.tx_packets)},
                        {"tx_packets", port.tx_packets}};
}

json::Value document_of(const std::string& team, const Ports& ports) {
    json::Object rows;
    for (const auto& port : ports)
        rows.push_back({port.name, counters_of(port)});
    return json::Object{{"ports", std::move(rows)}, {"team", team}, {"total", counters_of(total_of(ports))}};
}

Row row_of(const DatapathPort& port) {
    const auto size_of = [](std::int64_t bytes, std::int64_t packets) {
        const auto size = mean_size(bytes, packets);
        return size ? std::to_string(*size) : std::string("-");
    };
    return {port.name,
            std::to_string(port.tx_packets),
            std::to_string(port.tx_bytes),
            size_of(port.tx_bytes, port.tx_packets),
            std::to_string(port.rx_packets),
            std::to_string(port.rx_bytes),
            size_of(port.rx_bytes, port.rx_packets),
            std::to_string(port.rx_dropped)};
}

std::string text_of(const Ports& ports) {
    std::vector<Row> rows;
    for (const auto& port : ports)
        rows.push_back(row_of(port));
    rows.push_back(row_of(total_of(ports)));
    return table_of(
        {"port", "tx packets", "tx bytes", "tx skb", "rx packets", "rx bytes", "rx skb", "rx dropped"}, rows);
}

} // namespace

Result<> stats_show(Session& session, Arguments) {
    const auto ports = read_datapath_ports(session);
    if (!ports) return tl::unexpected(ports.error());
    if (session.options().json)
        session.print(document_of(session.team(), *ports));
    else
        put(text_of(*ports));
    return {};
}

} // namespace teamo::ctl
