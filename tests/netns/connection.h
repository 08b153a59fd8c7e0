// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "support/net/cabling.h"
#include "support/net/socket_address.h"

#include <sys/socket.h>

#include <string>

namespace teamo::test {

/// The TCP port on which the client listens.
inline constexpr std::uint16_t service = 7000;

/// A TCP connection of this process from the team to the client.
class Connection {
public:
    explicit Connection(const Cabling& wires, const std::string& to = client_v4) {
        const SocketAddress target(to, service);
        const auto listener = socket_in(wires.client(), target.family(), SOCK_STREAM);
        near_ = socket_in(wires.host(), target.family(), SOCK_STREAM);
        if (::bind(listener.get(), target.get(), target.size) < 0 || ::listen(listener.get(), 1) < 0 ||
            ::setsockopt(near_.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer) < 0 ||
            ::connect(near_.get(), target.get(), target.size) < 0)
            throw SetupError(errno_text(errno));
        far_ = UniqueFd(::accept(listener.get(), nullptr, nullptr));
        sockaddr_storage own{};
        socklen_t length = sizeof own;
        ::getsockname(near_.get(), reinterpret_cast<sockaddr*>(&own), &length);
        // The port number has the same offset in both address families.
        port_ = ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
    }
    std::uint16_t port() const { return port_; }
    int near() const { return near_.get(); }
    int far() const { return far_.get(); }

private:
    /// Limits the bytes in flight, so that a queue drains soon after the test speeds it up.
    static constexpr int send_buffer = 128 << 10;
    UniqueFd near_, far_;
    std::uint16_t port_ = 0;
};

} // namespace teamo::test
