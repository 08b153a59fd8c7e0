// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/packet/l2_context.h"

#include "kernel/netlink/links.h"

#include <linux/rtnetlink.h>

#include <algorithm>

namespace teamo::ctl {

std::vector<std::uint16_t> vlans_of(const Links& links, IfIndex device, IfIndex team) {
    std::vector<std::uint16_t> vids;
    for (std::size_t height = 0; height < links.size() && device != team; ++height) {
        const auto* link = find_link(links, device);
        if (link == nullptr) break;
        if (link->kind == "vlan") vids.insert(vids.begin(), link->vlan);
        device = link->lower;
    }
    return vids;
}

Result<L2Context> L2Context::read(IfIndex team) {
    auto control = TEAMO_TRY(LinkControl::open());
    L2Context read;
    read.team_ = team;
    read.links_ = TEAMO_TRY(control.read_all());
    read.addresses_ = TEAMO_TRY(read_addresses());
    read.neighbours_ = TEAMO_TRY(read_neighbours());
    return read;
}

bool L2Context::is_on_team(IfIndex device) const {
    if (device == team_) return true;
    const auto *link = find_link(links_, device), *team = find_link(links_, team_);
    return link != nullptr && team != nullptr && stands_on(links_, *link, *team);
}

bool L2Context::has(const IpAddress& address) const {
    return std::ranges::any_of(
        addresses_, [&](const DeviceAddress& own) { return own.ip == address && is_on_team(own.device); });
}

Result<> L2Context::complete(Packet& packet) const {
    if (!packet.dst) return {};
    // A source address that is not ours belongs to a guest: the kernel has no route from it.
    const auto from = packet.src && has(*packet.src) ? packet.src : std::nullopt;
    const auto route = TEAMO_TRY(read_route(*packet.dst, from));
    const auto* device = find_link(links_, route.device);
    if (!is_on_team(route.device))
        return fail(EXDEV, fmt::format("the kernel sends to {} by {}, not by the team", text_of(*packet.dst),
                                       device == nullptr ? "another device" : device->name));
    if (packet.vlans.empty()) packet.vlans = vlans_of(links_, route.device, team_);
    if (device != nullptr && !packet.smac) packet.smac = device->address;
    if (packet.dmac) return {};
    packet.dmac = multicast_mac(*packet.dst);
    if (route.type == RTN_BROADCAST) packet.dmac = MacAddress{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    if (packet.dmac) return {};
    const auto hop = route.gateway.value_or(*packet.dst);
    const auto known = std::ranges::find_if(neighbours_, [&](const Neighbour& neighbour) {
        return neighbour.device == route.device && neighbour.address == hop;
    });
    if (known != neighbours_.end()) packet.dmac = known->mac;
    return {};
}

} // namespace teamo::ctl
