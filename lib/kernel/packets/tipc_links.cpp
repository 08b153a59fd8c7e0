// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/tipc_links.h"

#include <arpa/inet.h>
#include <linux/tipc.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace teamo {

std::string_view tipc_bearer_of(std::string_view link) {
    const auto own = link.find(':');
    const auto peers_bearer = link.rfind(':');
    if (own == std::string_view::npos || own == peers_bearer) return {};
    const auto names = link.substr(own + 1, peers_bearer - own - 1); // "eth1-1.1.2"
    const auto peer = names.rfind('-');
    return peer == std::string_view::npos ? std::string_view() : names.substr(0, peer);
}

Result<TipcLinks> TipcLinks::open() {
    const auto* what = "cannot ask TIPC for its links";
    UniqueFd socket(::socket(AF_TIPC, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, what);
    sockaddr_tipc server{};
    server.family = AF_TIPC;
    server.addrtype = TIPC_SERVICE_ADDR;
    server.addr.name.name = {.type = TIPC_TOP_SRV, .instance = TIPC_TOP_SRV};
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) < 0)
        return fail_errno(errno, what);
    tipc_subscr all{};
    all.seq = {.type = htonl(TIPC_LINK_STATE), .lower = 0, .upper = ~0U};
    all.timeout = static_cast<__u32>(TIPC_WAIT_FOREVER);
    all.filter = htonl(TIPC_SUB_PORTS);
    if (::send(socket.get(), &all, sizeof all, 0) < 0) return fail_errno(errno, what);
    return TipcLinks(std::move(socket));
}

bool TipcLinks::read() {
    for (;;) {
        tipc_event event{};
        const auto length = ::recv(socket_.get(), &event, sizeof event, MSG_DONTWAIT);
        if (length < 0) return errno == EAGAIN || errno == EINTR;
        if (length != sizeof event) return length != 0;
        const std::pair link(ntohl(event.found_lower), ntohl(event.port.ref));
        if (ntohl(event.event) == TIPC_WITHDRAWN) {
            bearers_.erase(link);
            continue;
        }
        tipc_sioc_ln_req request{};
        request.peer = link.first;
        request.bearer_id = link.second;
        if (ntohl(event.event) != TIPC_PUBLISHED || ::ioctl(socket_.get(), SIOCGETLINKNAME, &request) < 0)
            continue;
        const std::string_view name(request.linkname, ::strnlen(request.linkname, sizeof request.linkname));
        bearers_.insert_or_assign(link, std::string(tipc_bearer_of(name)));
    }
}

bool TipcLinks::has_link(std::string_view bearer) const {
    constexpr std::string_view medium = "eth:";
    if (bearer.starts_with(medium)) bearer.remove_prefix(medium.size());
    return std::ranges::any_of(bearers_, [bearer](const auto& entry) { return entry.second == bearer; });
}

} // namespace teamo
