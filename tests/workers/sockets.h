// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "child.h"
#include "model/workers.h"
#include "support/net/socket_address.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace teamo::test {

/// Bound to a free port on the loopback device.
inline UniqueFd bound_socket(int type) {
    UniqueFd made(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    const SocketAddress any("127.0.0.1", 0);
    if (!made || ::bind(made.get(), any.get(), any.size) < 0) throw SetupError("no socket");
    return made;
}

/// A socket that is connected to the address of a bound one.
inline UniqueFd connected_to(int bound, int type) {
    sockaddr_storage where{};
    socklen_t size = sizeof where;
    ::getsockname(bound, reinterpret_cast<sockaddr*>(&where), &size);
    UniqueFd made(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    if (!made || ::connect(made.get(), reinterpret_cast<sockaddr*>(&where), size) < 0)
        throw SetupError("cannot connect");
    return made;
}

inline void send_all(int socket, std::size_t bytes) {
    const std::string part(std::min<std::size_t>(bytes, 65536), 'x');
    while (bytes > 0) {
        const auto sent = ::send(socket, part.data(), std::min(bytes, part.size()), MSG_NOSIGNAL);
        if (sent <= 0) throw SetupError("cannot send");
        bytes -= static_cast<std::size_t>(sent);
    }
}

/// Receives and discards until an error.
inline int take_in(int socket) {
    std::array<char, 65536> room;
    while (::recv(socket, room.data(), room.size(), 0) >= 0) {
    }
    return 1;
}

/// A process that accepts one TCP connection and then closes its copy of the listener.
class TcpServer {
public:
    TcpServer()
        : listener_(listening()), child_([this](int pipe) {
              const int connection = ::accept(listener_.get(), nullptr, nullptr);
              listener_.reset();
              say(pipe);
              return take_in(connection);
          }) {}

    UniqueFd connect() const {
        auto made = connected_to(listener_.get(), SOCK_STREAM);
        child_.await_word();
        return made;
    }
    pid_t pid() const { return child_.pid(); }

private:
    static UniqueFd listening() {
        auto made = bound_socket(SOCK_STREAM);
        if (::listen(made.get(), 8) < 0) throw SetupError("cannot listen");
        return made;
    }
    UniqueFd listener_;
    Child child_;
};

/// The sockets of one process.
inline std::vector<SocketTraffic> of_process(const std::vector<SocketTraffic>& sockets, pid_t process,
                                             Transport transport = Transport::tcp) {
    std::vector<SocketTraffic> own;
    std::ranges::copy_if(sockets, std::back_inserter(own), [&](const SocketTraffic& socket) {
        return socket.process == process && socket.transport == transport;
    });
    return own;
}

} // namespace teamo::test
