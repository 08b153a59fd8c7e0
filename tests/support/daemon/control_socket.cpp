// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/daemon/control_socket.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

namespace teamo::test {

std::optional<ControlSocket> ControlSocket::to(std::string_view team) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/run/teamd/{}.sock", team);
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
        return std::nullopt;
    return ControlSocket(std::move(socket));
}

bool ControlSocket::send(std::string_view record) const {
    constexpr int without_asking = 128 << 10; // less than the kernel's default
    if (const int needed = static_cast<int>(record.size()) * 2; needed > without_asking)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &needed, sizeof needed);
    return ::send(socket_.get(), record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

std::optional<std::string> ControlSocket::receive(milliseconds patience) const {
    pollfd arrival{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&arrival, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    int size = 0;
    if (::ioctl(socket_.get(), SIOCINQ, &size) < 0 || size == 0) return std::nullopt; // closed
    std::string record(static_cast<std::size_t>(size), '\0'); // room for all records that wait
    const auto got = ::recv(socket_.get(), record.data(), record.size(), 0);
    if (got <= 0) return std::nullopt;
    record.resize(static_cast<std::size_t>(got));
    return record;
}

std::optional<std::string> ControlSocket::ask(std::string_view method,
                                              const std::vector<std::string>& arguments,
                                              milliseconds patience) const {
    auto record = fmt::format("REQUEST\n{}\n", method);
    for (const auto& argument : arguments) {
        for (const char letter : argument)
            record += letter == '\n' ? "\\n" : letter == '\\' ? "\\\\" : std::string(1, letter);
        record += '\n';
    }
    if (!send(record)) return std::nullopt;
    return receive(patience);
}

std::optional<std::string> payload_of(const std::optional<std::string>& reply) {
    constexpr std::string_view success = "REPLY_SUCCESS\n";
    if (!reply || !reply->starts_with(success)) return std::nullopt;
    return reply->substr(success.size());
}

} // namespace teamo::test
