// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes a device a port, and restores it. Each step is written into the journal's PortBefore before it is
// taken, so that another process can finish or undo it; these functions skip what is done already.
#include "daemon/team/ports/port_set.h"

#include "base/result.h"
#include "kernel/files/files.h"
#include "model/observation.h"

#include <linux/if.h>

#include <algorithm>

namespace teamo {

Result<> note_taken_down(TeamContext& context, PortBefore* port, bool down) {
    if (port == nullptr) return {};
    port->taken_down = down;
    return context.journal.keep();
}

Result<> set_address(TeamContext& context, const Link& link, const MacAddress& address, PortBefore* port) {
    auto& links = context.control;
    auto done = links.set_address(link.index, address);
    if (done || done.error().number != EBUSY || !link.is_up()) return done;
    // Some drivers change it only while the device is down (no IFF_LIVE_ADDR_CHANGE).
    auto down = note_taken_down(context, port, true);
    if (down) down = links.set_flags(link.index, 0, IFF_UP);
    if (!down) {
        static_cast<void>(note_taken_down(context, port, false));
        return down;
    }
    done = links.set_address(link.index, address);
    // The device refuses it while down, too: return an error that is not tried again.
    if (!done && is_passing(done.error())) done.error().number = EIO;
    TEAMO_TRY(links.set_flags(link.index, IFF_UP, IFF_UP));
    const auto noted = note_taken_down(context, port, false);
    return done ? noted : done;
}

void set_hwaddr(TeamContext& context) {
    const auto& wanted = context.config().hwaddr;
    auto& set = context.journal.edit().hwaddr;
    if (wanted == set) return;
    const auto* backup = std::get_if<ActiveBackupRunner>(&context.config().runner);
    const bool follows_port = backup != nullptr && backup->hwaddr_policy == HwaddrPolicy::by_active;
    const auto* team = context.team();
    if (wanted && !follows_port && team != nullptr && team->address != *wanted) {
        if (auto done = set_address(context, *team, *wanted); !done)
            return context.log(Level::error, fmt::format("/hwaddr: {}", done.error().text));
        context.observer->edit(team->index)->address = *wanted;
    }
    set = wanted;
}

/// The state of a device before it joined. A port that was away, for example in a container's namespace,
/// comes back as we left it.
PortBefore PortSet::begin(const Link& link, Slot slot) {
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
    auto& ports = context_.journal.edit().ports;
    ports.erase(ports.begin() + (away - ports.data()));
    return before;
}

/// If an entry's device is gone: marks the entry as away, also if the port was joining, else removes it.
/// `returned`: gone too, although a device has that index again.
void PortSet::mark_away(const std::set<IfIndex>& returned) {
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

/// Must be the first step: without the mark an entry of the journal is not valid for the device.
Result<> PortSet::mark(const Link& link, Slot slot) {
    const auto mark = port_mark_of(link);
    if (mark == PortMark{.team = context_.name(), .slot = slot}) return {};
    if (auto done = context_.control.add_altname(link.index, port_mark(context_.name(), slot)); !done)
        return within("cannot be marked", std::move(done.error()));
    // A port that was away had another slot.
    return mark ? context_.control.remove_altname(link.index, port_mark(context_.name(), mark->slot))
                : Result<>();
}

/// Must be the last step.
Result<> PortSet::unmark(IfIndex port) {
    const auto now = context_.control.read(port);
    if (!now) return now.error().number == ENODEV ? Result<>() : tl::unexpected(now.error());
    const auto slot = context_.marked_slot(*now);
    if (!slot) return {};
    return context_.control.remove_altname(port, port_mark(context_.name(), *slot));
}

Result<> PortSet::note_clsact(IfIndex device) {
    auto* port = context_.journal.port(device);
    if (port == nullptr || port->made_clsact) return {};
    port->made_clsact = true;
    auto kept = context_.journal.keep();
    if (!kept) port->made_clsact = false;
    return kept;
}

Result<> PortSet::attach(PortBefore& port) {
    guard(port); // before the port carries, because the kernel pauses a device while clsact is made
    return context_.datapath->attach_port(port.index, port.slot);
}

void PortSet::guard(PortBefore& port) {
    auto& guard = *subsystems_.guard;
    const bool is_repeated = guard.is_due(port.index);
    const auto done = guard.attach(port.index);
    const bool is_news = !done && !(is_repeated && is_passing(done.error()));
    if (is_news && done.error().number != ENODEV)
        context_.log(Level::warning, fmt::format("port {}: {}", port.name, done.error().text));
}

void PortSet::guard() {
    for (const auto& port : ports_)
        if (auto* before = context_.journal.port(port.index)) guard(*before);
    subsystems_.guard->poll();
}

void PortSet::attach_all() {
    for (const auto& port : ports_)
        unattached_[port.index] = {};
    attach_rest();
}

void PortSet::attach_refused() {
    for (auto& [port, unattached] : unattached_)
        unattached = {};
    attach_rest();
}

bool PortSet::has_unattached() const {
    return std::ranges::any_of(unattached_, [](const auto& entry) { return entry.second.again; });
}

void PortSet::attach_rest() {
    for (const auto& port : ports_) {
        const auto rest = unattached_.find(port.index);
        // A device that is gone leaves in the next pass.
        if (rest == unattached_.end() || !rest->second.again) continue;
        if (context_.journal.port(port.index) == nullptr) continue;
        if (const auto attached = attach_adopted(port.index); !attached)
            note_unattached(port, attached.error());
        else
            unattached_.erase(rest);
    }
}

void PortSet::note_unattached(const TeamPort& port, const Error& error) {
    auto& [failure, again] = unattached_[port.index];
    again = is_passing(error);
    failure(context_.log, Level::error, fmt::format("port {}: ", port.name), error.text);
}

void PortSet::poll_guard() {
    for (const auto& port : ports_)
        if (auto* before = context_.journal.port(port.index);
            before != nullptr && subsystems_.guard->is_due(port.index))
            guard(*before);
    subsystems_.guard->poll();
}

/// With IPv6 enabled a port would make the team's link-local address its own.
Result<> PortSet::set_disable_ipv6(const std::string& name, const PortBefore& before, bool disabled) {
    if (before.disable_ipv6 != false || read_disable_ipv6(name) == disabled) return {};
    return write_disable_ipv6(name, disabled);
}

/// Sets MTU, address and flags, and attaches our program: what the kernel's drivers do by themselves.
Result<> PortSet::fit(const Link& link, PortBefore& before) {
    auto& links = context_.control;
    const auto& team = *context_.team();
    const auto* backup = std::get_if<ActiveBackupRunner>(&context_.config().runner);
    const bool same_all = backup == nullptr || backup->hwaddr_policy == HwaddrPolicy::same_all;
    if (link.mtu != team.mtu)
        if (auto done = links.set_mtu(link.index, team.mtu); !done)
            return within(fmt::format("refuses the team's MTU of {} bytes", team.mtu),
                          std::move(done.error()));
    if (same_all && link.address != team.address)
        if (auto done = set_address(context_, link, team.address); !done)
            return within(fmt::format("refuses the address {}", text_of(team.address)),
                          std::move(done.error()));
    TEAMO_TRY(attach(before));
    constexpr std::uint32_t flags = IFF_UP | IFF_ALLMULTI;
    if ((link.flags & flags) == flags) return {};
    return links.set_flags(link.index, flags, flags);
}

/// Makes the marked device a port: IPv6 disabled, the team's MTU and (by policy) address, all multicast, in
/// the datapath, up.
Result<> PortSet::make_port(const Link& link, PortBefore& before) {
    TEAMO_TRY(set_disable_ipv6(link.name, before, true));
    if (!context_.datapath->kernel_manages_ports()) return fit(link, before);
    // The driver takes only a port that is down, and sets it up itself. A device that is a port of the team
    // already stays as it is.
    if (!link.master && link.is_up()) TEAMO_TRY(context_.control.set_flags(link.index, 0, IFF_UP));
    return attach(before);
}

bool PortSet::team_keeps_address(const PortBefore& before) const {
    const auto* team = context_.team();
    const auto* link = context_.link(before.index);
    const bool goes_on = team != nullptr && !ports_.empty() && !ends_;
    if (!goes_on || link == nullptr) return false;
    return team->address ==
           (before.enslaved && link->permanent_address ? *link->permanent_address : before.address);
}

/// Everything except the datapath and the mark; a device that is gone needs nothing. Continues after a
/// failure; the error contains all failures.
Result<> PortSet::restore_device(const PortBefore& before, bool in_use) {
    auto& links = context_.control;
    Failures failures;
    // Read only now: the kernel's drivers restore a part themselves when they release a port.
    const auto read = links.read(before.index);
    if (!read) return read.error().number == ENODEV ? Result<>() : tl::unexpected(read.error());
    const auto& now = *read;
    // A device that was down goes down first, so that the changes below affect no traffic. So does one with
    // the team's address: a host that is up with one address twice confuses switches.
    constexpr std::uint32_t up = IFF_UP;
    auto flags = in_use ? (before.flags & ~up) | (now.flags & up) : before.flags;
    if (team_keeps_address(before)) flags &= ~up;
    if ((flags & up) == 0 && now.is_up()) failures.add(links.set_flags(now.index, 0, IFF_UP));
    // Of a port that others have enslaved, the driver alone knows them, and has restored them.
    if (!before.enslaved) {
        if (now.address != before.address) failures.add(set_address(context_, now, before.address));
        if (before.mtu != 0 && now.mtu != before.mtu) failures.add(links.set_mtu(now.index, before.mtu));
    }
    failures.add(links.set_flags(now.index, flags, up | IFF_PROMISC | IFF_ALLMULTI));
    failures.add(release(before, now.name));
    return failures.result();
}

/// Undoes our settings, which is all for a port that another program removed; the rest is that program's.
Result<> PortSet::release(const PortBefore& before, const std::string& name) {
    Failures failures;
    failures.add(set_disable_ipv6(name, before, false));
    for (const auto& address : before.ipv6_addresses)
        failures.add(add_address(address));
    return failures.result();
}

} // namespace teamo
