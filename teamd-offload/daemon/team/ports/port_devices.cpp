// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ports/port_devices.h"

#include "kernel/files/files.h"
#include "kernel/interrupts/affinity_settings.h"
#include "kernel/netlink/addresses.h"

#include <linux/if.h>
#include <linux/if_addr.h>

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

bool has_address_of_active(const TeamConfig& config) {
    const auto* backup = std::get_if<ActiveBackupRunner>(&config.runner);
    return backup != nullptr && backup->hwaddr_policy == HwaddrPolicy::by_active;
}

void set_hwaddr(TeamContext& context) {
    const auto& wanted = context.config().hwaddr;
    auto& set = context.journal.edit().hwaddr;
    // A reload that changes the policy gives the configured one.
    if (has_address_of_active(context.config())) return set.reset();
    if (wanted == set) return;
    const auto* team = context.team();
    if (wanted && team != nullptr && team->address != *wanted) {
        if (auto done = set_address(context, *team, *wanted); !done)
            return context.log(Level::error, fmt::format("/hwaddr: {}", done.error().text));
        context.observer->edit(team->index, [&wanted](Link& link) { link.address = *wanted; });
    }
    set = wanted;
}

void PortDevices::guard(PortBefore& port) {
    auto& guard = *subsystems_.guard;
    const bool is_repeated = guard.is_due(port.index);
    const auto done = guard.attach(port.index);
    const bool is_news = !done && !(is_repeated && is_passing(done.error()));
    if (is_news && done.error().number != ENODEV)
        context_.log(Level::warning, fmt::format("port {}: {}", port.name, done.error().text));
}

Result<> PortDevices::attach(PortBefore& port) {
    guard(port); // before the port carries, because the kernel pauses a device while clsact is made
    return context_.datapath->attach_port(port.index, port.slot);
}

/// With IPv6 enabled a port would make the team's link-local address its own.
Result<> PortDevices::set_disable_ipv6(const std::string& name, const PortBefore& before, bool disabled) {
    if (before.disable_ipv6 != false || read_disable_ipv6(name) == disabled) return {};
    return write_disable_ipv6(name, disabled);
}

/// Sets MTU, address and flags, and attaches our program: what the kernel's drivers do by themselves.
Result<> PortDevices::fit(const Link& link, PortBefore& before) {
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

Result<> PortDevices::make_port(const Link& link, PortBefore& before) {
    if (context_.datapath->is_guest()) return attach(before);
    TEAMO_TRY(set_disable_ipv6(link.name, before, true));
    if (!context_.datapath->kernel_manages_ports()) return fit(link, before);
    // The driver takes only a port that is down, and sets it up itself. A device that is a port of the team
    // already stays as it is.
    if (!link.master && link.is_up()) TEAMO_TRY(context_.control.set_flags(link.index, 0, IFF_UP));
    return attach(before);
}

Result<> PortDevices::add_to_team(const Link& link, const PortConfig& config, PortBefore& before) {
    if (!context_.datapath->is_guest()) TEAMO_TRY(entries_.mark(link, before.slot));
    // Before it carries, because some drivers reset the card.
    auto contract = config.offload;
    // A port that carries already (a team taken over with -o) is not refused any more.
    if (link.master == context_.device.team && contract.lacking == Lacking::refuse)
        contract.lacking = Lacking::demote;
    TEAMO_TRY(subsystems_.offloads->add(link, contract, before.offloads));
    before.offloads = subsystems_.offloads->kept(link.index);
    return make_port(link, before);
}

Result<> PortDevices::prepare_address(const Link& first) {
    const auto device = context_.device.team;
    auto now = context_.team()->address;
    if (context_.device.kind == bond_kind) now = TEAMO_TRY(context_.observer->read_now(device)).address;
    const auto wanted = context_.config().hwaddr ? context_.bond_address.value_or(now) : first.address;
    if (now == wanted) return {};
    TEAMO_TRY(context_.control.set_address(device, wanted));
    context_.observer->edit(device, [&wanted](Link& link) { link.address = wanted; });
    return {};
}

void PortDevices::note_addresses(const Link& link, std::span<const DeviceAddress> addresses, PortBefore& port,
                                 bool warns) {
    std::string own;
    for (const auto& address : addresses) {
        // The kernel makes link-local ones itself, now and afterwards.
        if (address.ip.is_link_local()) continue;
        own += fmt::format("{}{}", own.empty() ? "" : ", ", text_of(address.ip));
        if (!address.ip.ipv6 || (address.flags & IFA_F_PERMANENT) == 0 || port.disable_ipv6 != false)
            continue;
        // The kernel lists the latest first, and prefers it if nothing else decides.
        const auto first = port.ipv6_addresses.insert(port.ipv6_addresses.begin(), address);
        first->tentative = false;
    }
    if (warns && !own.empty())
        context_.log(
            Level::warning,
            fmt::format("port {}: has addresses of its own ({}), which do not work while it is a port; give "
                        "them to {}",
                        link.name, own, context_.name()));
}

bool PortDevices::keeps_address(const PortBefore& before, bool team_goes_on) const {
    const auto* team = context_.team();
    const auto* link = context_.link(before.index);
    if (!team_goes_on || team == nullptr || link == nullptr) return false;
    return team->address ==
           (before.enslaved && link->permanent_address ? *link->permanent_address : before.address);
}

Result<> PortDevices::restore(const PortBefore& port, bool removed_by_others, bool team_goes_on) {
    Failures failures;
    const auto* link = context_.link(port.index);
    // First, because a card that the next step takes down may free its vectors.
    if (link != nullptr) failures.add(restore_cpus(*link, port.cpus));
    failures.add(context_.datapath->detach_port(port.index, port.made_clsact));
    // The kernel's drivers have restored the rest; a guest has changed nothing.
    const bool only_ours =
        context_.datapath->is_guest() || (removed_by_others && context_.datapath->kernel_manages_ports());
    failures.add(only_ours ? release(port, link == nullptr ? port.name : link->name)
                           : restore_device(port, /*in_use=*/removed_by_others, team_goes_on));
    if (!port.features.empty() || !port.trial.empty()) failures.add(restore_features(port));
    // The mark is removed last, and stays while a step will be tried again: it shows that the device is ours.
    const auto unmarked = failures.may_pass() ? Result<>() : entries_.unmark(port.index);
    auto restored = failures.result();
    return restored ? unmarked : within("was not restored completely", std::move(restored.error()));
}

/// Everything except the datapath and the mark; a device that is gone needs nothing. Continues after a
/// failure; the error contains all failures.
Result<> PortDevices::restore_device(const PortBefore& before, bool in_use, bool team_goes_on) {
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
    if (keeps_address(before, team_goes_on)) flags &= ~up;
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
Result<> PortDevices::release(const PortBefore& before, const std::string& name) {
    Failures failures;
    failures.add(set_disable_ipv6(name, before, false));
    for (const auto& address : before.ipv6_addresses)
        failures.add(add_address(address));
    return failures.result();
}

Result<> PortDevices::restore_features(const PortBefore& port) {
    const auto features = TEAMO_TRY(context_.ethtool.read_features(port.index));
    // Also features that are only wanted: a driver may switch them later.
    FeatureSettings settings;
    auto before = port.features;
    before.insert(port.trial.begin(), port.trial.end()); // of a trial that could not be ended
    for (const auto& [name, on] : before)
        if (features.active.contains(name) != on || features.wanted.contains(name) != on)
            settings.emplace(name, on);
    if (settings.empty()) return {};
    const auto refused = TEAMO_TRY(context_.ethtool.set_features(port.index, settings)).refused;
    if (refused.empty()) return {};
    return fail(EIO, fmt::format("{} stays {}; set it with: ethtool -K {}", refused.begin()->first,
                                 refused.begin()->second ? "off" : "on", port.name));
}

} // namespace teamo
