// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/routes.h"

#include "kernel/netlink/attributes.h"
#include "kernel/netlink/netlink_socket.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

/// RTA_VIA: a gateway of the other family (RFC 5549).
std::optional<IpAddress> via_in(const nlattr* attribute) {
    if (attribute == nullptr || nla_len(attribute) < static_cast<int>(sizeof(rtvia))) return std::nullopt;
    const auto* via = static_cast<const rtvia*>(nla_data(attribute));
    IpAddress address{.ipv6 = via->rtvia_family == AF_INET6};
    if (static_cast<std::size_t>(nla_len(attribute)) < sizeof(rtvia) + address.size()) return std::nullopt;
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(attribute)) + sizeof(rtvia), address.size(),
                address.bytes.begin());
    return address;
}

NlMessage route_request(const IpAddress& to, const std::optional<IpAddress>& from) {
    const auto length = static_cast<int>(to.size());
    const auto bits = static_cast<unsigned char>(8 * length);
    rtmsg header{};
    header.rtm_family = to.ipv6 ? AF_INET6 : AF_INET;
    header.rtm_dst_len = bits;
    header.rtm_src_len = from ? bits : 0;
    auto message = make_message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_ACK, header);
    if (nla_put(message.get(), RTA_DST, length, to.bytes.data()) < 0 ||
        (from && nla_put(message.get(), RTA_SRC, length, from->bytes.data()) < 0))
        throw std::bad_alloc();
    return message;
}

} // namespace

std::optional<Route> parse_route(const nlmsghdr* message) {
    std::array<nlattr*, RTA_MAX + 1> attributes{};
    if (message->nlmsg_type != RTM_NEWROUTE ||
        nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(rtmsg), attributes.data(), RTA_MAX, nullptr) < 0)
        return std::nullopt;
    const auto* header = static_cast<const rtmsg*>(nlmsg_data(message));
    Route route{.device = {}, .gateway = {}, .type = header->rtm_type};
    if (attributes[RTA_OIF] != nullptr && nla_len(attributes[RTA_OIF]) >= 4)
        route.device = IfIndex{nla_get_u32(attributes[RTA_OIF])};
    route.gateway = ip_in(attributes[RTA_GATEWAY], header->rtm_family);
    if (!route.gateway) route.gateway = via_in(attributes[RTA_VIA]);
    return route;
}

Result<Route> read_route(const IpAddress& to, const std::optional<IpAddress>& from) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    std::optional<Route> route;
    const auto take = [&route](const nlmsghdr* message) {
        if (auto parsed = parse_route(message)) route = parsed;
    };
    const auto read = socket.dump([&] { return route_request(to, from); }, take, [] {});
    if (!read) return within(fmt::format("the route to {}", text_of(to)), read.error());
    if (!route) return fail(ENETUNREACH, fmt::format("the kernel reports no route to {}", text_of(to)));
    return *route;
}

} // namespace teamo
