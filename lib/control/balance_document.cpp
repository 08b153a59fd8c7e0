// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/balance_document.h"

#include <cmath>

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

Value hash_of(HashFields fields) {
    using enum HashField;
    constexpr std::array names{std::pair(eth, "eth"),   std::pair(vlan, "vlan"), std::pair(ipv4, "ipv4"),
                               std::pair(ipv6, "ipv6"), std::pair(tcp, "tcp"),   std::pair(udp, "udp"),
                               std::pair(sctp, "sctp"), std::pair(cpu, "cpu")};
    json::Array list;
    for (const auto& [field, name] : names)
        if ((fields & static_cast<HashFields>(field)) != 0) list.emplace_back(name);
    return list;
}

Value rounded(double rate) { return static_cast<std::int64_t>(std::llround(rate)); }
Value per_cent(double part) { return std::round(part * 1000) / 10; }

Value list_of(const CpuList& cpus) {
    json::Array list;
    for (const auto cpu : cpus)
        list.emplace_back(static_cast<std::int64_t>(cpu));
    return list;
}

Value balance_port_of(const PortBalance& port) {
    return Object{{"bulk_bytes_per_second", rounded(port.bulk)},
                  {"bytes_per_second", rounded(port.bytes)},
                  {"capacity_bytes_per_second", rounded(port.capacity)},
                  {"cpu_load_percent", per_cent(port.cpu_load)},
                  {"cpus", list_of(port.cpus)},
                  {"interrupt_cpus", list_of(port.interrupt_cpus)},
                  {"packets_per_second", rounded(port.packets)},
                  {"planned_bytes_per_second", rounded(port.planned)},
                  {"segments", port.segments}};
}

Value move_of(const MoveStatus& move) {
    return Object{{"ago_ms", move.ago.count()},
                  {"bucket", static_cast<int>(move.bucket)},
                  {"end", name_of(move.end)},
                  {"from", move.from},
                  {"gain_percent", per_cent(move.gain)},
                  {"reason", name_of(move.reason)},
                  {"to", move.to},
                  {"waited_ms", move.waited.count()}};
}

/// Arrays by bucket, 0 to 255.
Value buckets_of(const BalanceStatus& balance) {
    json::Array ports, bytes, packets, bulk, then;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        ports.emplace_back(balance.leaves_by[bucket]);
        then.emplace_back(json::Array(balance.then[bucket].begin(), balance.then[bucket].end()));
        bytes.push_back(rounded(balance.loads[bucket].bytes));
        packets.push_back(rounded(balance.loads[bucket].packets));
        bulk.push_back(rounded(balance.loads[bucket].bulk));
    }
    return Object{{"bulk_bytes_per_second", std::move(bulk)},
                  {"bytes_per_second", std::move(bytes)},
                  {"packets_per_second", std::move(packets)},
                  {"port", std::move(ports)},
                  {"next_ports", std::move(then)}};
}

} // namespace

Value balance_document(const BalanceStatus& balance) {
    Object ports;
    for (const auto& port : balance.ports)
        ports.push_back({port.name, balance_port_of(port)});
    json::Array moves;
    for (const auto& move : balance.moves)
        moves.push_back(move_of(move));
    return Object{{"aware", balance.config.aware},
                  {"buckets", buckets_of(balance)},
                  {"counted", balance.counted},
                  {"frozen", balance.frozen},
                  {"interval_ms", balance.config.interval.count()},
                  {"moves", std::move(moves)},
                  {"on", balance.config.on},
                  {"ports", std::move(ports)},
                  {"tx_hash", hash_of(balance.tx_hash)}};
}

} // namespace teamo::control
