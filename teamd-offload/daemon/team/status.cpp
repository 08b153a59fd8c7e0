// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/team.h"
#include "kernel/netlink/bond_lacp.h"
#include "lacp/bonding.h"
#include "version.h"

#include <unistd.h>

namespace teamo {
namespace {

PortStatus port_status(const TeamContext& context, const TeamPort& port, const Tables& tables) {
    PortStatus status;
    status.name = port.name;
    status.ifindex = port.index;
    status.link = port.modes;
    status.link_up = port.watch.up();
    status.watches = port.watch.status();
    if (const auto* link = context.link(port.index)) {
        status.name = link->name;
        status.address = link->address;
        status.link.up = link->has_link();
    }
    status.transmits = (tables.transmit & bit(port.slot)) != 0;
    status.receives = (tables.receive & bit(port.slot)) != 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (leaves_by(tables, bucket) == port.slot) ++status.buckets;
    return status;
}

OffloadStatus offload_status(const TeamContext& context, const Offloads& offloads, const PortSet& ports) {
    const auto device_status = [&](IfIndex device) {
        auto status = offloads.status(device);
        if (const auto* link = context.link(device); link != nullptr) {
            status.name = link->name;
            status.gso_max = link->gso_max;
        }
        return status;
    };
    const auto& config = context.config().offload;
    OffloadStatus status{.lacking = config.lacking,
                         .repair = config.repair,
                         .team = device_status(context.device.team),
                         .ports = {}};
    for (const auto& port : ports.all())
        status.ports.push_back(device_status(port.index));
    return status;
}

/// Without LLDP the partner of LACP tells the switch.
FailureDomain domain_status(const TeamParts& parts, const PortStatus& port) {
    auto domain = parts.subsystems.failure_domains->of(port.ifindex);
    if (!domain.at.is_known() && port.lacp && !port.lacp->partner.system.address.is_zero())
        domain.at = {.source = SwitchSource::lacp,
                     .id = text_of(port.lacp->partner.system.address),
                     .name = {},
                     .port = std::to_string(port.lacp->partner.port.number)};
    return domain;
}

/// Of the ports that carry, and of those that can take over.
FailureDomain common_domain(const TeamStatus& status) {
    std::vector<FailureDomain> domains;
    for (const auto& port : status.ports)
        if (port.transmits || can_take_over(port, status.ports)) domains.push_back(port.domain);
    return common_of(domains);
}

std::vector<RefusedStatus> refused_status(const TeamParts& parts) {
    auto list = parts.ports.refused();
    auto of_team = parts.reconciler.refused();
    if (const auto& failure = parts.context.journal.failure(); !failure.empty()) of_team.push_back(failure);
    if (auto lack = parts.bond.lack(); !lack.empty()) of_team.push_back(std::move(lack));
    for (auto& text : of_team)
        list.push_back({.where = parts.context.name(), .what = std::move(text)});
    return list;
}

/// The LACP of a bond changes without events: it is read when somebody asks.
void add_lacp_of_bond(const TeamContext& context, TeamStatus& status) {
    const auto* bond = context.team();
    auto* runner = std::get_if<LacpRunner>(&status.runner);
    if (runner == nullptr || bond == nullptr || !context.datapath->is_bond()) return;
    const auto read = read_bond_lacp(context.device.team);
    if (!read) return;
    runner->active = read->active;
    runner->fast_rate = read->fast_rate;
    runner->sys_prio = read->actor.priority;
    for (auto& port : status.ports) {
        const auto found = read->ports.find(port.ifindex);
        if (found != read->ports.end())
            port.lacp = lacp::status_of(*read, found->second, port.link.up && bond->is_up(), port.transmits);
    }
    status.common = common_domain(status);
}

} // namespace

TeamStatus summary_of(TeamParts& parts) {
    const auto& context = parts.context;
    const auto& tables = parts.reconciler.tables();
    TeamStatus status;
    status.name = context.name();
    status.ifindex = context.device.team;
    status.runner = context.config().runner;
    status.min_ports = context.min_ports();
    status.datapath = context.datapath->name();
    status.device_kind = context.device.kind;
    status.link_sight = context.datapath->link_sight();
    status.kernel_hashes = context.datapath->kernel_hashes();
    status.counts_by_program = context.datapath->counts_by_program();
    status.attached = parts.bond.status();
    status.pid = ::getpid();
    status.pid_file = context.options.pid_file.value_or("");
    status.dbus_enabled = context.options.dbus;
    status.config_file = context.options.config_file.value_or("");
    status.debug_level = context.config().debug_level;
    status.daemonized = context.options.daemonize;
    status.version = program_version;
    if (const auto* team = context.team()) {
        status.address = team->address;
        status.link.up = team->has_link();
        if (team->bond_mode) status.bond_mode = bond_mode_name(*team->bond_mode);
    }
    const auto counters = context.datapath->read_counters();
    std::uint32_t speed = 0;
    for (const auto& port : parts.ports.all()) {
        auto one = port_status(context, port, tables);
        if (counters) one.counters = (*counters)[port.slot.value];
        if (const auto* system = parts.reconciler.lacp()) one.lacp = system->status(port.index, Clock::now());
        if (port.damping) one.damping = port.damping->status(Clock::now());
        one.weight = port.config.weight;
        one.loss = parts.subsystems.losses->status(port.index);
        one.drain = parts.ports.drain_status(port);
        one.domain = domain_status(parts, one);
        if (one.transmits) speed += one.link.speed.value_or(0);
        if (one.transmits) status.link.duplex = one.link.duplex;
        if (parts.reconciler.decision().active == port.index) status.active_port = one.name;
        status.ports.push_back(std::move(one));
    }
    if (speed != 0) status.link.speed = speed;
    status.common = common_domain(status);
    return status;
}

TeamStatus status_of(TeamParts& parts) {
    const auto& subsystems = parts.subsystems;
    auto status = summary_of(parts);
    add_lacp_of_bond(parts.context, status);
    status.offload = offload_status(parts.context, *subsystems.offloads, parts.ports);
    status.interrupts = subsystems.interrupts->status();
    status.workers = subsystems.workers->status();
    status.guard = subsystems.guard->status();
    status.refused = refused_status(parts);
    status.programs = subsystems.program_watch->status();
    if (parts.reconciler.tables().mode == TransmitMode::hash && parts.context.device.team)
        status.balance = subsystems.balancing->status();
    return status;
}

} // namespace teamo
