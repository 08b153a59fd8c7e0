// SPDX-License-Identifier: LGPL-2.1-or-later
//
// port remove --dry-run: what the port's leaving would touch. Reads, and changes nothing.
#include "ctl/commands.h"
#include "ctl/doctor/sampling.h"
#include "ctl/output.h"
#include "ctl/packet/l2_context.h"
#include "ctl/report/removal_impact.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/links.h"

#include <netinet/in.h>

#include <set>

namespace teamo::ctl {
namespace {

/// What a connection's packets look like, which is the same for all between two addresses but for the ports.
class Headers {
public:
    Headers(const L2Context& surroundings, HashFields fields)
        : surroundings_(surroundings), fields_(fields) {}

    /// False: its packets leave by another device.
    bool by_team(const TcpSocket& socket) { return packet(socket).has_value(); }

    /// None where it cannot be told.
    std::optional<std::uint8_t> bucket(const TcpSocket& socket) {
        auto whole = packet(socket);
        constexpr auto by_cpu = static_cast<HashFields>(HashField::cpu);
        if (!whole || fields_ == 0 || (fields_ & by_cpu) != 0) return std::nullopt;
        whole->sport = socket.local_port;
        whole->dport = socket.remote_port;
        if (!missing_parts(*whole, fields_).empty()) return std::nullopt;
        return bucket_of(*whole, fields_);
    }

private:
    const std::optional<Packet>& packet(const TcpSocket& socket) {
        auto [known, fresh] = packets_.try_emplace({socket.local, socket.remote});
        if (fresh) {
            Packet asked;
            asked.src = socket.local;
            asked.dst = socket.remote;
            asked.protocol = IPPROTO_TCP;
            if (surroundings_.complete(asked)) known->second = std::move(asked);
        }
        return known->second;
    }

    const L2Context& surroundings_;
    HashFields fields_;
    std::map<std::pair<IpAddress, IpAddress>, std::optional<Packet>> packets_;
};

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
    const auto surroundings = L2Context::read(state.ifindex);
    if (!surroundings) return tl::unexpected(surroundings.error());
    const auto sockets = read_tcp_connections();
    if (!sockets) return tl::unexpected(sockets.error());
    Headers headers(*surroundings, state.balance ? state.balance->tx_hash : 0);
    Flows flows;
    for (const auto& socket : *sockets) {
        const bool bound_elsewhere = socket.device && !surroundings->is_on_team(socket.device);
        if (bound_elsewhere || !surroundings->has(socket.local) || !headers.by_team(socket)) continue;
        ++flows.all;
        const auto bucket = headers.bucket(socket);
        const auto leaves = leaves_by(state, port, bucket);
        if (!leaves)
            ++flows.untold;
        else if (*leaves)
            flows.by_port.push_back({.socket = socket, .bucket = bucket, .owner = {}});
    }
    add_owners(flows.by_port);
    return flows;
}

/// A port that went meanwhile is left out.
Result<OffloadsByPort> read_offloads(const TeamState& state) {
    auto control = LinkControl::open();
    if (!control) return tl::unexpected(control.error());
    auto ethtool = Ethtool::open();
    if (!ethtool) return tl::unexpected(ethtool.error());
    OffloadsByPort ports;
    for (const auto& port : state.ports)
        if (const auto link = control->read(port.ifindex))
            ports[port.name] = {.features = ethtool->read_features(port.ifindex).value_or(Features{}),
                                .gso_max = link->gso_max.size};
    return ports;
}

} // namespace

Result<> rehearse_port_remove(Session& session, Arguments arguments) {
    const auto sample = take_sample(session);
    if (!sample) return tl::unexpected(sample.error());
    const auto* port = find_port(sample->state, arguments[0]);
    if (port == nullptr) return fail(ENODEV, "the team has no such port");
    auto leaving = removal_impact_of(sample->state, *port, sample->rates);
    auto flows = read_flows(sample->state, *port);
    if (!flows) return tl::unexpected(flows.error());
    leaving.flows = std::move(*flows);
    const auto offloads = read_offloads(sample->state);
    if (!offloads) return tl::unexpected(offloads.error());
    leaving.offloads = offload_change(port->name, leaving.remaining_ports, *offloads);
    if (session.options().json)
        session.print(json_of(session.team(), leaving));
    else
        put(text_of(leaving));
    if (leaving.refusal) return fail(EBUSY, *leaving.refusal);
    return {};
}

} // namespace teamo::ctl
