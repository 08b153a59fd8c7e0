// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace teamo::bench {
namespace {

constexpr timeval longest_call{.tv_sec = 0, .tv_usec = 250'000};

template <class Value>
void set_option(const UniqueFd& socket, int level, int option, const Value& value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

bool is_waiting(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

} // namespace

Connection::Connection(UniqueFd socket) : socket_(std::move(socket)) {
    set_option(socket_, SOL_SOCKET, SO_RCVTIMEO, longest_call);
    set_option(socket_, SOL_SOCKET, SO_SNDTIMEO, longest_call);
    set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
}

void Connection::set_buffer(std::uint32_t bytes) const {
    if (bytes == 0) return;
    const int size = static_cast<int>(bytes);
    // With CAP_NET_ADMIN beyond net.core.wmem_max and rmem_max; else up to them.
    for (const auto& [forced, plain] :
         {std::pair(SO_SNDBUFFORCE, SO_SNDBUF), std::pair(SO_RCVBUFFORCE, SO_RCVBUF)})
        if (::setsockopt(socket_.get(), SOL_SOCKET, forced, &size, sizeof size) < 0)
            set_option(socket_, SOL_SOCKET, plain, size);
}

void Connection::set_congestion_control(const std::string& name) const {
    if (!name.empty())
        ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                     static_cast<socklen_t>(name.size()));
}

Result<Connection> Connection::to(const IpAddress& address, std::uint16_t port, std::uint32_t buffer) {
    UniqueFd socket(::socket(address.ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, "cannot open a socket");
    Connection connection(std::move(socket));
    connection.set_buffer(buffer);
    int result = -1;
    if (address.ipv6) {
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(port);
        std::ranges::copy(address.bytes, to.sin6_addr.s6_addr);
        result = ::connect(connection.socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    } else {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        std::copy_n(address.bytes.begin(), sizeof to.sin_addr, reinterpret_cast<std::uint8_t*>(&to.sin_addr));
        result = ::connect(connection.socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
    if (result < 0) return fail_errno(errno, fmt::format("cannot connect to {}", text_of(address)));
    return connection;
}

Result<Connection> Connection::to_within(std::chrono::milliseconds longest, const IpAddress& address,
                                         std::uint16_t port, std::uint32_t buffer, Refused refused,
                                         const std::stop_token& stop) {
    const auto until = Clock::now() + longest;
    for (;;) {
        auto connection = to(address, port, buffer);
        const bool is_final =
            connection || (connection.error().number == ECONNREFUSED && refused == Refused::is_final);
        if (is_final || stop.stop_requested() || Clock::now() >= until) return connection;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

void Connection::notice_a_lost_peer() const {
    set_option(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket_, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_option(socket_, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(socket_, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000); // for probes too, instead of TCP_KEEPCNT
}

bool Connection::send(std::string_view bytes, const std::stop_token& stop) const {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0)
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        else if (!is_waiting(sent))
            return false;
        if (stop.stop_requested()) return false;
    }
    return true;
}

bool Connection::send_file(int file, std::uint32_t bytes, const std::stop_token& stop,
                           std::atomic<std::uint64_t>& sent) const {
    constexpr std::uint32_t most = 1U << 20; // a round may begin and end within a file
    off_t from = 0;
    while (from < static_cast<off_t>(bytes)) {
        const auto left = bytes - static_cast<std::uint32_t>(from);
        const auto done = ::sendfile(socket_.get(), file, &from, std::min(left, most));
        if (done <= 0 && !is_waiting(done)) return false;
        if (done > 0) sent += static_cast<std::uint64_t>(done);
        if (stop.stop_requested()) return false;
    }
    return true;
}

std::size_t Connection::receive(std::span<char> into, const std::stop_token& stop,
                                Clock::time_point until) const {
    for (;;) {
        const auto got = ::recv(socket_.get(), into.data(), into.size(), 0);
        if (stop.stop_requested()) return 0;
        if (until != Clock::time_point::max() && Clock::now() >= until) return 0;
        if (got >= 0) return static_cast<std::size_t>(got);
        if (!is_waiting(got)) return 0;
    }
}

bool Connection::receive_all(std::span<char> into, const std::stop_token& stop) const {
    while (!into.empty()) {
        const auto got = receive(into, stop);
        if (got == 0) return false;
        into = into.subspan(got);
    }
    return true;
}

IpAddress Connection::peer() const {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    IpAddress address;
    if (::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &length) < 0) return address;
    address.ipv6 = peer.ss_family == AF_INET6;
    const auto* bytes =
        address.ipv6 ? reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<sockaddr_in6&>(peer).sin6_addr)
                     : reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<sockaddr_in&>(peer).sin_addr);
    std::copy_n(bytes, address.size(), address.bytes.begin());
    return unmapped(address);
}

UniqueFd memory_file(std::uint32_t bytes) {
    UniqueFd file(::memfd_create("teamo-bench", MFD_CLOEXEC));
    if (!file) return file;
    // Written, so that it has pages: sendfile() of a hole sends the zero page again and again.
    const std::string block(std::size_t{1} << 16, 'x');
    for (std::uint32_t written = 0; written < bytes;) {
        const auto size = std::min<std::size_t>(block.size(), bytes - written);
        const auto done = ::write(file.get(), block.data(), size);
        if (done <= 0) return {};
        written += static_cast<std::uint32_t>(done);
    }
    return file;
}

} // namespace teamo::bench
