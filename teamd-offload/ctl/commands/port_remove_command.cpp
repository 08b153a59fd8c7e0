// SPDX-License-Identifier: LGPL-2.1-or-later
//
// port remove --dry-run: what removing the port would affect. Changes nothing.
#include "ctl/commands.h"
#include "ctl/packet/l2_context.h"
#include "ctl/report/removal_impact.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/links.h"

#include <netinet/in.h>

#include <set>

namespace teamo::ctl {
namespace {

/// The headers of a connection's packets, without ports; none if they leave by another device.
std::optional<Packet> headers_of(const TcpSocket& socket, const L2Context& l2_context) {
    Packet packet{.src = socket.local, .dst = socket.remote, .protocol = IPPROTO_TCP};
    return l2_context.complete(packet) ? std::optional(packet) : std::nullopt;
}

/// None if it is not known: no neighbour entry, no hash, or a hash by CPU.
std::optional<std::uint8_t> bucket_of_flow(Packet packet, const TcpSocket& socket, HashFields fields) {
    if (fields == 0 || (fields & static_cast<HashFields>(HashField::cpu)) != 0) return std::nullopt;
    packet.sport = socket.local_port;
    packet.dport = socket.remote_port;
    if (!missing_parts(packet, fields).empty()) return std::nullopt;
    return bucket_of(packet, fields);
}

void add_owners(std::vector<Flow>& flows) {
    std::set<std::uint64_t> inodes;
    for (const auto& flow : flows)
        if (flow.socket.inode != 0) inodes.insert(flow.socket.inode);
    const auto owners = find_socket_owners(inodes);
    for (auto& flow : flows)
        if (const auto owner = owners.find(flow.socket.inode); owner != owners.end())
            flow.owner = owner->second;
}

Result<Flows> read_flows(const TeamState& state, const PortStatus& port) {
    const auto l2_context = TEAMO_TRY(L2Context::read(state.ifindex));
    const auto sockets = TEAMO_TRY(read_tcp_connections());
    const HashFields fields = state.balance ? state.balance->tx_hash : HashFields{};
    // Between two addresses, the headers of all connections are equal but for the ports.
    std::map<std::pair<IpAddress, IpAddress>, std::optional<Packet>> headers;
    Flows flows;
    for (const auto& socket : sockets) {
        const bool bound_elsewhere = socket.device && !l2_context.is_on_team(socket.device);
        if (bound_elsewhere || !l2_context.has(socket.local)) continue;
        const auto [known, fresh] = headers.try_emplace({socket.local, socket.remote});
        if (fresh) known->second = headers_of(socket, l2_context);
        if (!known->second) continue;
        ++flows.all;
        const auto bucket = bucket_of_flow(*known->second, socket, fields);
        const auto leaves = leaves_by(state, port, bucket);
        if (!leaves)
            ++flows.unknown;
        else if (*leaves)
            flows.by_port.push_back({.socket = socket, .bucket = bucket, .owner = {}});
    }
    add_owners(flows.by_port);
    return flows;
}

/// A port that has just been removed is left out.
Result<OffloadsByPort> read_offloads(const TeamState& state) {
    auto control = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    OffloadsByPort ports;
    for (const auto& port : state.ports)
        if (const auto link = control.read(port.ifindex))
            ports[port.name] = {.features = ethtool.read_features(port.ifindex).value_or(Features{}),
                                .gso_max = link->gso_max.size};
    return ports;
}

} // namespace

CommandResult port_remove_dry_run(Session& session, Arguments arguments) {
    const auto sample = TEAMO_TRY(session.sample());
    const auto* port = find_port(sample.state, device_name(arguments[0]).value_or(arguments[0]));
    if (port == nullptr) return fail(ENODEV, "the team has no such port");
    auto impact = removal_impact_of(sample.state, *port, sample.rates);
    impact.flows = TEAMO_TRY(read_flows(sample.state, *port));
    const auto offloads = TEAMO_TRY(read_offloads(sample.state));
    impact.offloads = offload_change(port->name, impact.remaining_ports, offloads);
    session.print(json_of(session.team(), impact), text_of(impact));
    if (impact.refusal) return fail(EBUSY, *impact.refusal);
    return {};
}

} // namespace teamo::ctl
