// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the runner, each subsystem and the state see of the ports.
#include "daemon/team/ports/port_set.h"
#include "kernel/files/kernel_release.h"

namespace teamo {

/// In 802.3ad a slave outside the active aggregator has a link and does not carry.
bool PortSet::is_unused_by_bond(const TeamPort& port) const {
    const auto* link = context_.link(port.index);
    return context_.datapath->is_bond() && !context_.is_activebackup() && link != nullptr &&
           link->bond_backup;
}

std::vector<Candidate> PortSet::candidates() const {
    std::vector<Candidate> list;
    for (const auto& port : ports_)
        list.push_back({.port = port.index,
                        .up = counts_as_up(port.watch) && !is_unused_by_bond(port) && !is_kept_out(port),
                        .held = context_.runs_lacp() && port.watch.has_link() && !port.watch.up(),
                        .prio = port.config.prio,
                        .sticky = port.config.sticky,
                        .speed = port.modes.speed.value_or(0),
                        .duplex = port.modes.duplex,
                        .drain = drain_phase(port),
                        .drain_forced = noted_drain(port).forced,
                        .last = is_last(port),
                        .slot = port.slot,
                        .lacp_prio = port.config.lacp_prio,
                        .lacp_key = port.config.lacp_key,
                        .carrier_losses = port.watch.carrier_losses(),
                        .domain = subsystems_.failure_domains->of(port.index)});
    return list;
}

std::vector<Interrupts::Port> PortSet::interrupt_ports(std::optional<IfIndex> active) const {
    constexpr double usual_speed = 1000; // Mbit/s; assumed if a port's speed is not known
    const bool backup = context_.is_activebackup();
    if (backup && context_.team() != nullptr && context_.team()->bond_active)
        active = context_.team()->bond_active;
    std::vector<Interrupts::Port> list;
    for (const auto& port : ports_) {
        const auto* link = context_.link(port.index);
        list.push_back({.index = port.index,
                        .name = link == nullptr ? port.name : link->name,
                        .up = link != nullptr && link->is_up(),
                        .load = port.modes.speed ? *port.modes.speed / usual_speed : 1,
                        .standby = backup && active != port.index});
    }
    return list;
}

std::vector<PortCpus::Port> PortSet::cpu_ports() const {
    std::vector<PortCpus::Port> list;
    for (const auto& port : ports_)
        list.push_back({.index = port.index,
                        .name = port.name,
                        .slot = port.slot,
                        .has_link = port.had_link && !is_drained(port)});
    return list;
}

std::vector<Balancing::Port> PortSet::balanced_ports(const Tables& tables, SlotSet drained) const {
    std::vector<Balancing::Port> list;
    for (const auto& port : ports_)
        list.push_back({.index = port.index,
                        .slot = port.slot,
                        .name = port.name,
                        .speed = port.modes.speed.value_or(0),
                        .weight = port.config.weight,
                        .segments = subsystems_.offloads->features(port.index).active.contains(tso),
                        .transmits = (tables.transmit & ~drained & bit(port.slot)) != 0});
    return list;
}

std::vector<Losses::Port> PortSet::loss_ports(const Tables& tables) const {
    std::vector<Losses::Port> list;
    for (const auto& port : ports_) {
        const auto* link = context_.link(port.index);
        list.push_back({.index = port.index,
                        .slot = port.slot,
                        .name = port.name,
                        .carries = (tables.transmit & bit(port.slot)) != 0,
                        .carrier_losses = link == nullptr ? 0 : link->carrier_losses});
        for (const auto& watch : port.config.link_watches)
            if (const auto* loss = std::get_if<LossWatch>(&watch)) list.back().watch = *loss;
    }
    return list;
}

std::vector<Probes::Port> PortSet::probed(const Tables& tables) {
    const auto now = Clock::now();
    const bool one_carries = context_.is_activebackup();
    std::vector<Probes::Port> list;
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        const auto* before = context_.journal.port(port.index);
        const bool carries = (tables.transmit & bit(port.slot)) != 0;
        // A backup port is silent, as with teamd: the switch would learn the team's address there.
        port.watch.note_role({.passes = !context_.has_lacp() || (tables.receive & bit(port.slot)) != 0,
                              .sends = carries || !one_carries || tables.transmit == 0},
                             now);
        list.push_back({.index = port.index,
                        .name = port.name,
                        .address = link == nullptr ? MacAddress{} : link->address,
                        .own = before == nullptr ? MacAddress{} : before->address,
                        .carries = carries,
                        .others_carry = (tables.transmit & ~bit(port.slot)) != 0,
                        .one_carries = one_carries,
                        .watch = &port.watch});
    }
    return list;
}

/// A device on a port of a pair is not refused by the kernel.
void PortSet::note_users() {
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        if (link == nullptr) continue;
        const auto users = users_among(context_.links_on(link->index), refusals_.takes());
        port.users(context_.log, Level::warning, fmt::format("port {}: ", port.name),
                   users.empty()
                       ? std::string()
                       : fmt::format("carries {}, which receives nothing while it is a port; move it "
                                     "to {}",
                                     text_of(users), context_.name()));
    }
}

/// A port that was moved by hand to another team, a clone of a virtual machine's interface.
void PortSet::note_shared_address() {
    const auto* team = context_.team();
    if (team == nullptr || !team->is_up()) return shared_address_.clear();
    const auto others = sharing_address(context_.links(), *team, context_.links_with(team->address));
    shared_address_(
        context_.log, Level::warning, "",
        others.empty()
            ? std::string()
            : fmt::format("{0} is up and has the MAC address {1} of {2}, so switches learn this address on "
                          "two ports; give {0} another one: ip link set {0} address ADDRESS",
                          others.front()->name, text_of(team->address), team->name));
}

/// The kernel lets generic XDP skip what was redirected (net/core/dev.c: netif_receive_generic_xdp), so all
/// that a pair receives; native XDP is refused, because the inner end takes the largest packets. Before 6.4 a
/// program of tc did not mark what it redirects (net/core/filter.c: __bpf_tx_skb), and a veth pair shows all.
void PortSet::note_idle_xdp() {
    const auto* team = context_.team();
    const bool shows_all = context_.device.kind == "veth" && !kernel_is_at_least(6, 4);
    const bool idle =
        team != nullptr && team->has_xdp && !context_.datapath->kernel_manages_ports() && !shows_all;
    idle_xdp_(
        context_.log, Level::warning, "",
        idle ? fmt::format("{} has an XDP program, which sees no frame there; attach it to the ports, or "
                           "use the datapath team or bond",
                           team->name)
             : std::string());
}

std::vector<RefusedStatus> PortSet::refused() const {
    std::vector<RefusedStatus> list;
    refusals_.add_to(list);
    for (const auto& [index, leaving] : leaving_)
        if (const auto* port = context_.journal.port(index))
            list.push_back({.where = port->name, .what = "is not restored yet"});
    for (const auto& port : ports_)
        if (const auto found = unattached_.find(port.index); found != unattached_.end())
            list.push_back({.where = port.name, .what = found->second.failure.text()});
    for (const auto& port : ports_)
        if (!port.users.text().empty()) list.push_back({.where = port.name, .what = port.users.text()});
    for (const auto* of_team : {&shared_address_, &idle_xdp_})
        if (!of_team->text().empty()) list.push_back({.where = context_.name(), .what = of_team->text()});
    return list;
}

} // namespace teamo
