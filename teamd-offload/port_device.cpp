// SPDX-License-Identifier: LGPL-2.1-or-later
#include "port_device.h"

#include "kernel/files.h"
#include "model/marks.h"

#include <linux/if.h>

namespace teamo {
namespace {
constexpr std::uint32_t put_back_flags = IFF_UP | IFF_PROMISC | IFF_ALLMULTI;
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

Result<> set_address(LinkControl& links, const Link& link, const MacAddress& address) {
    auto done = links.set_address(link.index, address);
    if (done || done.error().number != EBUSY || !link.is_up()) return done;
    // Some drivers change it only while the device is down (no IFF_LIVE_ADDR_CHANGE).
    if (auto down = links.set_flags(link.index, 0, IFF_UP); !down) return down;
    done = links.set_address(link.index, address);
    auto up = links.set_flags(link.index, IFF_UP, IFF_UP);
    return done ? up : done;
}

namespace {

/// As wide as the team and hearing all multicast, with our program on it: what the team driver does by
/// itself.
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
    auto attached = datapath.attach_port(link.index);
    if (!attached) return tl::unexpected(attached.error());
    if (*attached) {
        before.made_clsact = true;
        if (auto kept = keep(); !kept) return kept;
    }
    return links.set_flags(link.index, IFF_UP | IFF_ALLMULTI, IFF_UP | IFF_ALLMULTI);
}

/// The driver takes a port that is down, and opens it. What was a port of the team already stays as it is.
Result<> hand_over(LinkControl& links, Datapath& datapath, const Link& link) {
    if (!link.master && link.is_up())
        if (auto down = links.set_flags(link.index, 0, IFF_UP); !down) return down;
    auto attached = datapath.attach_port(link.index);
    if (!attached) return tl::unexpected(attached.error());
    return {};
}

} // namespace

Result<> make_port(LinkControl& links, Datapath& datapath, std::string_view team, const Link& link,
                   std::uint32_t mtu, std::optional<MacAddress> address, PortBefore& before,
                   const std::function<Result<>()>& keep) {
    if (!port_mark_of(link))
        if (auto done = links.add_altname(link.index, port_mark(team, before.slot)); !done)
            return within("cannot be marked", std::move(done.error()));
    // A port that still makes IPv6 addresses of its own would claim the team's link-local address.
    if (before.disable_ipv6 && !*before.disable_ipv6)
        if (auto done = write_disable_ipv6(link.name, true); !done) return done;
    return datapath.tends_ports() ? hand_over(links, datapath, link)
                                  : fit_port(links, datapath, link, mtu, address, before, keep);
}

Result<> restore_port(LinkControl& links, Datapath& datapath, std::string_view team,
                      const PortBefore& before) {
    if (const auto there = links.read(before.index); !there)
        return there.error().number == ENODEV ? Result<>() : tl::unexpected(there.error());
    std::string failed;
    const auto attempt = [&failed](Result<> done) {
        if (!done) failed.append(failed.empty() ? "" : "; ").append(done.error().text);
    };
    attempt(datapath.detach_port(before.index, before.made_clsact));
    // Read only now: the team driver puts a part back itself.
    const auto read = links.read(before.index);
    if (!read) return read.error().number == ENODEV ? Result<>() : tl::unexpected(read.error());
    const auto& now = *read;
    // A device that was down goes down first: what follows is then nobody's traffic.
    if ((before.flags & IFF_UP) == 0 && now.is_up()) attempt(links.set_flags(now.index, 0, IFF_UP));
    if (now.address != before.address) attempt(set_address(links, now, before.address));
    if (now.mtu != before.mtu) attempt(links.set_mtu(now.index, before.mtu));
    attempt(links.set_flags(now.index, before.flags, put_back_flags));
    attempt(release_port(links, team, before));
    if (!failed.empty()) return fail(EIO, fmt::format("was not put back wholly: {}", failed));
    return {};
}

Result<> release_port(LinkControl& links, std::string_view team, const PortBefore& before) {
    const auto now = links.read(before.index);
    if (!now) return now.error().number == ENODEV ? Result<>() : tl::unexpected(now.error());
    Result<> enabled;
    if (before.disable_ipv6 && !*before.disable_ipv6) enabled = write_disable_ipv6(now->name, false);
    for (const auto& address : before.ipv6_addresses)
        if (auto added = add_ipv6_address(address); enabled && !added) enabled = std::move(added);
    const auto mark = port_mark_of(*now);
    if (!mark || mark->team != team) return enabled;
    auto unmarked = links.remove_altname(now->index, port_mark(team, mark->slot));
    return enabled ? unmarked : enabled;
}

} // namespace teamo
