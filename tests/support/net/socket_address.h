// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/process.h"
#include "support/net/net_ns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace teamo::test {

/// An IPv4 or IPv6 address with a port, as the socket calls take it.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    SocketAddress(const std::string& text, std::uint16_t port) {
        auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
        if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
            v4->sin_family = AF_INET;
            v4->sin_port = htons(port);
            size = sizeof *v4;
        } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
            v6->sin6_family = AF_INET6;
            v6->sin6_port = htons(port);
            size = sizeof *v6;
        } else {
            throw SetupError("not an address: " + text);
        }
    }

    int family() const { return storage.ss_family; }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// A new socket in this namespace.
inline UniqueFd socket_in(const NetNs& in, int family, int type, int protocol = 0) {
    UniqueFd made(in.inside([&] { return ::socket(family, type | SOCK_CLOEXEC, protocol); }));
    if (!made) throw SetupError("cannot create a socket");
    return made;
}

} // namespace teamo::test
