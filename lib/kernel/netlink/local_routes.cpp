// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/local_routes.h"

#include "kernel/files/files.h"
#include "kernel/netlink/netlink_socket.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace teamo {

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

Result<bool> has_proxy_neighbours() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ndmsg header{};
    header.ndm_flags = NTF_PROXY;
    bool any = false;
    TEAMO_TRY(
        within("the proxy entries of the neighbour table",
               socket.dump([&] { return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, header); },
                           [&any](const nlmsghdr* message) {
                               const auto* entry = header_in<ndmsg>(message, RTM_NEWNEIGH);
                               any = any || (entry != nullptr && (entry->ndm_flags & NTF_PROXY) != 0);
                           },
                           [&any] { any = false; })));
    return any;
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
