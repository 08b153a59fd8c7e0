// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/traffic.h"

#include "support/net/socket_address.h"

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace teamo::test {
namespace {

/// ICMP over IPv4 needs a checksum; for ICMPv6 the kernel sets it.
struct Echo {
    std::uint8_t type, code = 0;
    std::uint16_t checksum = 0, identifier, sequence = 1;
};

Echo echo_request(int family, std::uint16_t identifier) {
    Echo echo{.type = family == AF_INET ? std::uint8_t{ICMP_ECHO} : std::uint8_t{ICMP6_ECHO_REQUEST},
              .identifier = identifier};
    const std::uint32_t sum = std::uint32_t{htons(ICMP_ECHO << 8)} + echo.identifier + echo.sequence;
    echo.checksum = static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16)));
    return echo;
}

bool is_answer(int family, const std::array<char, 2048>& packet, std::size_t size, std::uint16_t identifier) {
    const std::size_t offset = family == AF_INET ? 20 : 0; // a raw IPv4 socket shows the IP header
    const auto answer = family == AF_INET ? std::uint8_t{ICMP_ECHOREPLY} : std::uint8_t{ICMP6_ECHO_REPLY};
    if (size < offset + sizeof(Echo)) return false;
    Echo echo{};
    std::memcpy(&echo, packet.data() + offset, sizeof echo);
    return echo.type == answer && echo.identifier == identifier;
}

void send_pattern(int socket, std::size_t bytes) {
    std::vector<unsigned char> chunk(std::size_t{1} << 16);
    for (std::size_t sent = 0; sent < bytes;) {
        const auto count = std::min(chunk.size(), bytes - sent);
        for (std::size_t index = 0; index < count; ++index)
            chunk[index] = static_cast<unsigned char>((sent + index) % 251);
        const auto taken = ::send(socket, chunk.data(), count, MSG_NOSIGNAL);
        if (taken <= 0) return;
        sent += static_cast<std::size_t>(taken);
    }
}

/// The number of received bytes of the pattern, up to the first wrong one.
std::size_t receive_pattern(int socket) {
    std::vector<unsigned char> chunk(std::size_t{1} << 16);
    std::size_t received = 0;
    for (;;) {
        const auto count = ::recv(socket, chunk.data(), chunk.size(), 0);
        if (count <= 0) return received;
        for (std::size_t index = 0; index < static_cast<std::size_t>(count); ++index, ++received)
            if (chunk[index] != received % 251) return received;
    }
}

void set_patience(int socket, int seconds) {
    const timeval patience{.tv_sec = seconds, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

} // namespace

bool answers_echo(const NetNs& from, const std::string& address, milliseconds patience) {
    static std::uint16_t identifier = 0;
    const SocketAddress target(address, 0);
    const auto socket = socket_in(from, target.family(), SOCK_RAW,
                                  target.family() == AF_INET ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6});
    const auto echo = echo_request(target.family(), ++identifier);
    if (::sendto(socket.get(), &echo, sizeof echo, 0, target.get(), target.size) < 0) return false;
    for (const auto start = SteadyClock::now(); since(start) < patience;) {
        pollfd arrival{.fd = socket.get(), .events = POLLIN, .revents = 0};
        if (::poll(&arrival, 1, static_cast<int>((patience - since(start)).count())) <= 0) return false;
        std::array<char, 2048> packet{};
        const auto size = ::recv(socket.get(), packet.data(), packet.size(), MSG_DONTWAIT);
        if (size > 0 && is_answer(target.family(), packet, static_cast<std::size_t>(size), echo.identifier))
            return true;
    }
    return false;
}

testing::AssertionResult reaches(const NetNs& from, const std::string& address, milliseconds patience) {
    return eventually(
        fmt::format("an echo from {}", address), [&] { return answers_echo(from, address, 500ms); },
        patience);
}

bool carries_tcp(const NetNs& from, const NetNs& to, const std::string& address, std::size_t bytes) {
    const SocketAddress target(address, 5002);
    const auto listener = socket_in(to, target.family(), SOCK_STREAM);
    const auto sender = socket_in(from, target.family(), SOCK_STREAM);
    constexpr int on = 1, seconds = std::chrono::duration_cast<std::chrono::seconds>(long_enough).count();
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    set_patience(listener.get(), seconds);
    set_patience(sender.get(), seconds);
    if (::bind(listener.get(), target.get(), target.size) < 0 || ::listen(listener.get(), 1) < 0)
        throw SetupError("cannot listen at " + address);
    if (::connect(sender.get(), target.get(), target.size) < 0) return false;
    const UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
    if (!accepted) return false;
    set_patience(accepted.get(), seconds);
    std::jthread sending([&] {
        send_pattern(sender.get(), bytes);
        ::shutdown(sender.get(), SHUT_WR);
    });
    return receive_pattern(accepted.get()) == bytes;
}

} // namespace teamo::test
