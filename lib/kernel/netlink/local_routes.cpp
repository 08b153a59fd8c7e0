// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/local_routes.h"

#include "kernel/files/files.h"
#include "kernel/packets/classic_bpf.h"

#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace teamo {
namespace {

/// Of routes only local ones, and all other messages.
std::vector<sock_filter> local_route_filter() {
    constexpr std::uint32_t type = offsetof(nlmsghdr, nlmsg_type), all = 0xffffffff;
    constexpr std::uint32_t table = NLMSG_HDRLEN + offsetof(rtmsg, rtm_table),
                            kind = NLMSG_HDRLEN + offsetof(rtmsg, rtm_type);
    ClassicBpf code;
    const auto route = code.label(), pass = code.label(), drop = code.label();
    code.load(BPF_H, type); // as from network order
    code.jump_if(BPF_JEQ, htons(RTM_NEWROUTE), route);
    code.jump_unless(BPF_JEQ, htons(RTM_DELROUTE), pass);
    code.place(route);
    code.load(BPF_B, table);
    code.jump_unless(BPF_JEQ, RT_TABLE_LOCAL, drop);
    code.load(BPF_B, kind);
    code.jump_if(BPF_JEQ, RTN_LOCAL, pass);
    code.jump_unless(BPF_JEQ, RTN_ANYCAST, drop);
    code.place(pass);
    return code.finish_filter(all, drop);
}

} // namespace

std::optional<LocalRoute> parse_local_route(const nlmsghdr* message) {
    const auto* header = header_in<rtmsg>(message, RTM_NEWROUTE);
    if (header == nullptr || header->rtm_table != RT_TABLE_LOCAL) return std::nullopt;
    if (header->rtm_type != RTN_LOCAL && header->rtm_type != RTN_ANYCAST) return std::nullopt;
    const auto to = ip_in(attribute_in<rtmsg>(message, RTA_DST), header->rtm_family);
    if (!to || header->rtm_dst_len > 8 * to->size()) return std::nullopt;
    return LocalRoute{.to = *to, .prefix = header->rtm_dst_len};
}

Result<std::vector<LocalRoute>> read_local_routes() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    // So that the kernel sends only this table: a router has a million other routes. One that ignores the
    // wish sends all.
    const int strict = 1;
    static_cast<void>(setsockopt(socket.fd(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &strict, sizeof strict));
    rtmsg header{};
    header.rtm_table = RT_TABLE_LOCAL;
    const auto make = [&] { return make_message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, header); };
    return within("the routes of the table local", socket.list(make, parse_local_route));
}

Result<> listen_to_local_routes(const NetlinkSocket& events) {
    TEAMO_TRY(attach_filter(events.fd(), local_route_filter(), "cannot attach the filter for local routes"));
    for (const int group : {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE})
        if (setsockopt(events.fd(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) < 0)
            return fail_errno(errno, "cannot listen to local routes");
    return {};
}

Result<bool> has_proxy_neighbours() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ndmsg header{};
    header.ndm_flags = NTF_PROXY;
    const auto make = [&] { return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, header); };
    const auto look = [](const nlmsghdr* message, bool& any) {
        const auto* entry = header_in<ndmsg>(message, RTM_NEWNEIGH);
        any = any || (entry != nullptr && (entry->ndm_flags & NTF_PROXY) != 0);
    };
    return within("the proxy entries of the neighbour table", socket.collect<bool>(make, look));
}

bool is_proxy(std::string_view device) {
    constexpr std::array settings{"ipv4/conf/{}/proxy_arp", "ipv4/conf/{}/proxy_arp_pvlan",
                                  "ipv6/conf/{}/proxy_ndp"};
    return std::ranges::any_of(settings, [device](const char* setting) {
        const auto text =
            read_file(fmt::format("/proc/sys/net/{}", fmt::format(fmt::runtime(setting), device)), 64);
        return text && !text->empty() && text->front() != '0';
    });
}

} // namespace teamo
