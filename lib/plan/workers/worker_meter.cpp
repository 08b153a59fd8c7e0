// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_meter.h"

#include <algorithm>

namespace teamo {
namespace {

constexpr IfIndex loopback{1}; // in every network namespace (include/net/net_namespace.h: LOOPBACK_IFINDEX)

template <class Map, class Key>
const std::string* look_up(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

const std::string* port_of(const SocketTraffic& socket, const PortTraces& ports) {
    if (const auto* port = look_up(ports.napi_ids, socket.napi)) return port;
    if (!socket.foreign)
        if (const auto* port = look_up(ports.devices, socket.device)) return port;
    return socket.cpu ? look_up(ports.cpus, *socket.cpu) : nullptr;
}

void add(WorkerMeter::Traffic& traffic, const SocketTraffic& socket, const PortTraces& ports,
         std::uint64_t bytes, std::uint64_t packets) {
    if (bytes == 0 && packets == 0) return;
    if (socket.device == loopback) return; // from this machine, and processed on the sender's CPU
    auto& process = traffic[socket.process];
    process.bytes += bytes;
    process.packets += packets;
    if (socket.cpu) process.by_cpu[*socket.cpu] += bytes;
    if (const auto* port = port_of(socket, ports)) process.by_port[*port] += bytes;
}

} // namespace

WorkerMeter::Traffic WorkerMeter::step(std::span<const SocketTraffic> sockets, const PortTraces& ports,
                                       std::span<const SocketTraffic> sample, double scale) {
    Traffic traffic;
    std::map<std::uint64_t, std::uint64_t> holders; // by cookie: number of processes
    for (const auto& socket : sockets)
        ++holders[socket.cookie];
    std::map<std::uint64_t, Counted> now;
    for (const auto& socket : sockets) {
        if (socket.transport != Transport::tcp) continue;
        now.insert_or_assign(socket.cookie, Counted{.bytes = socket.bytes, .packets = socket.packets});
        if (first_) continue;
        // A new socket has received all its bytes within this window.
        const auto known = before_.find(socket.cookie);
        const auto earlier = known == before_.end() ? Counted{} : known->second;
        const auto share = holders.at(socket.cookie);
        // The kernel counts packets in 32 bits; bytes never wrap.
        add(traffic, socket, ports, (std::max(socket.bytes, earlier.bytes) - earlier.bytes) / share,
            static_cast<std::uint32_t>(socket.packets - earlier.packets) / share);
    }
    before_ = std::move(now);
    first_ = false;
    const auto scaled = [scale](std::uint64_t count, std::uint64_t share) {
        return static_cast<std::uint64_t>(static_cast<double>(count) * scale / static_cast<double>(share));
    };
    for (const auto& row : sample) {
        const auto found = holders.find(row.cookie);
        const auto share = found == holders.end() ? 1 : found->second;
        add(traffic, row, ports, scaled(row.bytes, share), scaled(row.packets, share));
    }
    return traffic;
}

} // namespace teamo
