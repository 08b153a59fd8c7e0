// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/tcp_sockets.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <span>

namespace teamo {
namespace {

NlMessage connections_dump(std::uint8_t family) {
    inet_diag_req_v2 request{};
    request.sdiag_family = family;
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_states = 1U << TCP_ESTABLISHED;
    return make_message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, request);
}

/// The kernel always has sixteen bytes; IPv4 uses the first four.
IpAddress address_of(bool ipv6, std::span<const __be32, 4> words) {
    IpAddress address{.ipv6 = ipv6};
    std::copy_n(reinterpret_cast<const std::uint8_t*>(words.data()), address.size(), address.bytes.begin());
    return unmapped(address);
}

} // namespace

std::optional<TcpSocket> parse_tcp_socket(const nlmsghdr* message) {
    const auto* header = header_in<inet_diag_msg>(message, SOCK_DIAG_BY_FAMILY);
    if (header == nullptr || (header->idiag_family != AF_INET && header->idiag_family != AF_INET6))
        return std::nullopt;
    const bool ipv6 = header->idiag_family == AF_INET6;
    return TcpSocket{.local = address_of(ipv6, header->id.idiag_src),
                     .remote = address_of(ipv6, header->id.idiag_dst),
                     .local_port = ntohs(header->id.idiag_sport),
                     .remote_port = ntohs(header->id.idiag_dport),
                     .device = IfIndex{header->id.idiag_if},
                     .inode = header->idiag_inode};
}

Result<std::vector<TcpSocket>> read_tcp_connections() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_SOCK_DIAG));
    std::vector<TcpSocket> all;
    for (const auto family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
        const auto make = [family] { return connections_dump(family); };
        const auto some = TEAMO_TRY(within("the TCP connections", socket.list(make, parse_tcp_socket)));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

} // namespace teamo
