// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/ports/port_device.h"

#include "base/failures.h"
#include "kernel/files/files.h"
#include "model/observation.h"

#include <linux/if.h>

namespace teamo {
namespace {
constexpr std::uint32_t restored_flags = IFF_UP | IFF_PROMISC | IFF_ALLMULTI;
} // namespace

PortBefore remember(const Link& link, Slot slot) {
    return {.index = link.index,
            .slot = slot,
            .name = link.name,
            .address = link.address,
            .mtu = link.mtu,
            .flags = link.flags,
            .disable_ipv6 = read_disable_ipv6(link.name),
            .made_clsact = false,
            .features = {},
            .ipv6_addresses = {}};
}

PortBefore remember_marked(const Link& link, Slot slot) {
    auto before = remember(link, slot);
    if (link.permanent_address) before.address = *link.permanent_address;
    before.flags &= ~std::uint32_t{IFF_PROMISC | IFF_ALLMULTI};
    // On a port we have set it ourselves.
    if (before.disable_ipv6) before.disable_ipv6 = read_disable_ipv6("default");
    return before;
}

Result<> set_address(LinkControl& links, const Link& link, const MacAddress& address,
                     const std::function<Result<>(bool down)>& around) {
    auto done = links.set_address(link.index, address);
    if (done || done.error().number != EBUSY || !link.is_up()) return done;
    // Some drivers change it only while the device is down (no IFF_LIVE_ADDR_CHANGE).
    auto down = around ? around(true) : Result<>();
    if (down) down = links.set_flags(link.index, 0, IFF_UP);
    if (!down) {
        if (around) static_cast<void>(around(false));
        return down;
    }
    done = links.set_address(link.index, address);
    // The device refuses it while down, too: return an error that is not tried again.
    if (!done && is_passing(done.error())) done.error().number = EIO;
    TEAMO_TRY(links.set_flags(link.index, IFF_UP, IFF_UP));
    if (around)
        if (auto noted = around(false); done && !noted) return noted;
    return done;
}

void mark_away(std::vector<PortBefore>& ports, const std::function<bool(IfIndex)>& gone) {
    std::erase_if(ports, [&gone](const PortBefore& port) {
        const bool has_joined = port.state == PortState::joined || port.state == PortState::away;
        return !has_joined && gone(port.index);
    });
    for (auto& port : ports) {
        if (port.state != PortState::joined || !gone(port.index)) continue;
        port.state = PortState::away;
        port.index = {};
        port.cpus.clear();
        port.trial.clear();
        port.made_clsact = false; // removed with the device
    }
}

Result<> mark_port(LinkControl& links, std::string_view team, const Link& link, Slot slot) {
    const auto mark = port_mark_of(link);
    if (mark == PortMark{.team = std::string(team), .slot = slot}) return {};
    if (auto done = links.add_altname(link.index, port_mark(team, slot)); !done)
        return within("cannot be marked", std::move(done.error()));
    // A port that was away had another slot.
    return mark ? links.remove_altname(link.index, port_mark(team, mark->slot)) : Result<>();
}

Result<> unmark_port(LinkControl& links, std::string_view team, IfIndex port) {
    const auto now = links.read(port);
    if (!now) return now.error().number == ENODEV ? Result<>() : tl::unexpected(now.error());
    const auto mark = port_mark_of(*now);
    if (!mark || mark->team != team) return {};
    return links.remove_altname(port, port_mark(team, mark->slot));
}

namespace {

/// Sets MTU, address and flags, and attaches our program: what the team driver does by itself.
Result<> fit_port(LinkControl& links, Datapath& datapath, const Link& link, std::uint32_t mtu,
                  std::optional<MacAddress> address, PortBefore& before,
                  const std::function<Result<>()>& keep) {
    if (link.mtu != mtu)
        if (auto done = links.set_mtu(link.index, mtu); !done)
            return within(fmt::format("does not take the team's MTU of {} bytes", mtu),
                          std::move(done.error()));
    if (address && link.address != *address)
        if (auto done = set_address(links, link, *address); !done)
            return within(fmt::format("does not take the address {}", text_of(*address)),
                          std::move(done.error()));
    const auto makes = TEAMO_TRY(datapath.makes_something(link.index));
    if (makes && !before.made_clsact) {
        before.made_clsact = true;
        TEAMO_TRY(keep());
    }
    TEAMO_TRY(datapath.attach_port(link.index));
    constexpr std::uint32_t flags = IFF_UP | IFF_ALLMULTI;
    if ((link.flags & flags) == flags) return {};
    return links.set_flags(link.index, flags, flags);
}

/// The driver takes only a port that is down, and sets it up itself. A device that is a port of the team
/// already stays as it is.
Result<> hand_over(LinkControl& links, Datapath& datapath, const Link& link) {
    if (!link.master && link.is_up()) TEAMO_TRY(links.set_flags(link.index, 0, IFF_UP));
    return datapath.attach_port(link.index);
}

} // namespace

Result<> make_port(LinkControl& links, Datapath& datapath, const Link& link, std::uint32_t mtu,
                   std::optional<MacAddress> address, PortBefore& before,
                   const std::function<Result<>()>& keep) {
    // With IPv6 enabled a port would make the team's link-local address its own.
    if (before.disable_ipv6 && !*before.disable_ipv6) TEAMO_TRY(write_disable_ipv6(link.name, true));
    return datapath.kernel_manages_ports() ? hand_over(links, datapath, link)
                                           : fit_port(links, datapath, link, mtu, address, before, keep);
}

Result<> restore_port(LinkControl& links, Datapath& datapath, const PortBefore& before) {
    Failures failures;
    failures.add(datapath.detach_port(before.index, before.made_clsact));
    // Read only now: the team driver restores a part itself.
    const auto read = links.read(before.index);
    if (!read) return read.error().number == ENODEV ? Result<>() : tl::unexpected(read.error());
    const auto& now = *read;
    // A device that was down goes down first, so that the changes below affect no traffic.
    if ((before.flags & IFF_UP) == 0 && now.is_up()) failures.add(links.set_flags(now.index, 0, IFF_UP));
    if (now.address != before.address) failures.add(set_address(links, now, before.address));
    if (now.mtu != before.mtu) failures.add(links.set_mtu(now.index, before.mtu));
    failures.add(links.set_flags(now.index, before.flags, restored_flags));
    failures.add(release_port(before, now.name));
    return failures.result();
}

Result<> release_port(const PortBefore& before, const std::string& name) {
    Failures failures;
    if (before.disable_ipv6 && !*before.disable_ipv6) failures.add(write_disable_ipv6(name, false));
    for (const auto& address : before.ipv6_addresses)
        failures.add(add_ipv6_address(address));
    return failures.result();
}

} // namespace teamo
