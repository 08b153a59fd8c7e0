// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ports/port_entries.h"

#include "kernel/files/files.h"
#include "model/observation.h"

#include <linux/if.h>

#include <algorithm>

namespace teamo {

bool PortEntries::is_slave(const Link& link) const {
    const auto& device = context_.device;
    return context_.datapath->kernel_manages_ports() && device.team && link.master == device.team;
}

bool PortEntries::is_ours(const Link& link) const {
    if (context_.datapath->is_guest() && context_.journal.port(link.index) != nullptr)
        return !port_mark_of(link); // it may be a port of a team of ours by now
    return is_slave(link) || context_.marked_slot(link);
}

bool PortEntries::is_added_by_others(const Link& link) const {
    return is_slave(link) && context_.journal.port(link.index) == nullptr;
}

bool PortEntries::has_left(const Link& link) const {
    return link.master != (context_.datapath->kernel_manages_ports() ? context_.device.team : IfIndex{});
}

bool PortEntries::was_moved(const PortBefore& port, const Link& link) const {
    if (link.master || link.is_up()) return false;
    const bool lost_ipv6 = port.disable_ipv6 == false && read_disable_ipv6(link.name) == false;
    return lost_ipv6 || context_.datapath->lacks_program(port.index).value_or(false);
}

void PortEntries::forget_reused_indexes(std::vector<PortBefore>& ports) const {
    for (auto& port : ports) {
        const auto* link = context_.link(port.index);
        if (link == nullptr) continue;
        const auto slot = context_.marked_slot(*link);
        if (port.state == PortState::joining ? !is_ours(*link) : slot != port.slot) {
            if (!slot && port.state == PortState::joined)
                context_.log(Level::warning,
                             fmt::format("port {}: device {} has no alternative name {}, so it is taken for "
                                         "a new device; its earlier settings are not restored",
                                         port.name, link->name, port_mark(context_.name(), port.slot)));
            port.index = {};
        }
    }
}

const PortBefore* PortEntries::away_entry(const Link& link) const {
    const auto slot = context_.marked_slot(link);
    const auto likeness = [&](const PortBefore& entry) {
        if (entry.state != PortState::away) return 0;
        return (slot == entry.slot ? 2 : 0) + (link.has_name(entry.name) ? 1 : 0);
    };
    const auto best = std::ranges::max_element(context_.journal.now().ports, {}, likeness);
    return best == context_.journal.now().ports.end() || likeness(*best) == 0 ? nullptr : &*best;
}

Result<Slot> PortEntries::slot_for(const Link& link) const {
    const auto* away = away_entry(link);
    SlotSet taken = 0, kept = 0;
    for (const auto& entry : context_.journal.now().ports) {
        if (entry.state != PortState::away)
            taken |= bit(entry.slot);
        else if (&entry != away)
            kept |= bit(entry.slot);
    }
    if (away != nullptr && (taken & bit(away->slot)) == 0) return away->slot;
    for (const SlotSet avoided : {static_cast<SlotSet>(taken | kept), taken})
        for (std::uint8_t number = 1; number <= max_ports; ++number)
            if ((avoided & bit(Slot{number})) == 0) return Slot{number};
    return fail(E2BIG, fmt::format("the team has {} ports, which is the maximum", max_ports));
}

PortBefore PortEntries::begin(const Link& link, Slot slot) {
    if (context_.datapath->is_guest()) { // nothing of it is changed
        const auto* away = away_entry(link);
        const auto known = away == nullptr ? PortBefore{} : *away;
        std::erase_if(context_.journal.edit().ports, [&known](const PortBefore& port) {
            return port.name == known.name && port.state == PortState::away;
        });
        // The switch must answer probes by the slave that asks, so not the address that all slaves have.
        return {.index = link.index,
                .slot = slot,
                .name = link.name,
                .address = link.permanent_address.value_or(link.address),
                .damping = known.damping,
                .drain = known.drain};
    }
    PortBefore before{.index = link.index,
                      .slot = slot,
                      .name = link.name,
                      .address = link.address,
                      .mtu = link.mtu,
                      .flags = link.flags,
                      .disable_ipv6 = read_disable_ipv6(link.name)};
    const bool marked = context_.marked_slot(link).has_value();
    before.enslaved =
        is_slave(link) && !marked; // a marked one is ours, even without its entry in the journal
    if ((before.enslaved || marked) && link.permanent_address) before.address = *link.permanent_address;
    if (marked) { // as far as known from its hardware and from the defaults of new devices
        before.flags &= ~std::uint32_t{IFF_PROMISC | IFF_ALLMULTI};
        if (before.disable_ipv6) before.disable_ipv6 = read_disable_ipv6("default"); // we have set its own
        if (is_slave(link)) before.mtu = 0;                                          // the driver knows it
    }
    const auto* away = away_entry(link);
    if (away == nullptr) return before;
    if (marked) { // it kept its marks (net/core/dev.c: __dev_change_net_namespace)
        before = *away;
        before.index = link.index;
        before.name = link.name;
        before.slot = slot;
        before.state = PortState::joining;
        before.taken_down = false;
        for (auto& address : before.ipv6_addresses)
            address.device = link.index;
    }
    before.drain = away->drain; // its cable, or its card, was changed
    before.damping = away->damping;
    auto& ports = context_.journal.edit().ports;
    ports.erase(ports.begin() + (away - ports.data()));
    return before;
}

void PortEntries::mark_away(const std::set<IfIndex>& returned) {
    auto& ports = context_.journal.edit().ports;
    const auto is_gone = [&](const PortBefore& port) {
        return port.state != PortState::away &&
               (!context_.links().contains(port.index) || returned.contains(port.index));
    };
    std::erase_if(ports, [&is_gone](const PortBefore& port) {
        return port.state == PortState::leaving && is_gone(port);
    });
    for (auto& port : ports) {
        if (!is_gone(port)) continue;
        port.state = PortState::away;
        port.index = {};
        port.cpus.clear();
        port.trial.clear();
        port.made_clsact = false; // removed with the device
    }
}

Result<> PortEntries::mark(const Link& link, Slot slot) {
    const auto mark = port_mark_of(link);
    if (mark == PortMark{.team = context_.name(), .slot = slot}) return {};
    if (auto done = context_.control.add_altname(link.index, port_mark(context_.name(), slot)); !done)
        return within("cannot be marked", std::move(done.error()));
    // A port that was away had another slot.
    return mark ? context_.control.remove_altname(link.index, port_mark(context_.name(), mark->slot))
                : Result<>();
}

Result<> PortEntries::unmark(IfIndex port) {
    const auto now = context_.control.read(port);
    if (!now) return now.error().number == ENODEV ? Result<>() : tl::unexpected(now.error());
    const auto slot = context_.marked_slot(*now);
    if (!slot) return {};
    return context_.control.remove_altname(port, port_mark(context_.name(), *slot));
}

bool PortEntries::is_of_another_team(IfIndex device) const {
    if (!context_.datapath->is_guest()) return false; // the mark shows it
    const auto now = context_.control.read(device);
    if (!now) return false;
    const auto bond = now->master ? context_.control.read(now->master) : now;
    if (!bond || bond->kind != bond_kind || bond->has_name(context_.name())) return false;
    auto names = bond->altnames;
    names.push_back(bond->name);
    return std::ranges::any_of(names, [&](const std::string& name) {
        const auto journal = read_journal(name).value_or(std::nullopt);
        if (!journal || !journal->attached || journal->team != bond->index) return false;
        return bond->index == device || std::ranges::any_of(journal->ports, [device](const PortBefore& port) {
                   return port.index == device && port.state != PortState::leaving;
               });
    });
}

Result<> PortEntries::note_clsact(IfIndex device) {
    auto* port = context_.journal.port(device);
    if (port == nullptr || port->made_clsact) return {};
    port->made_clsact = true;
    auto kept = context_.journal.keep();
    if (!kept) port->made_clsact = false;
    return kept;
}

} // namespace teamo
