// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/port_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace teamo {

Result<PortSocket> PortSocket::open(IfIndex device, std::uint16_t protocol, std::optional<MacAddress> group) {
    // Protocol 0: receives nothing before bind().
    UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "cannot open a packet socket");
    const auto what = [device] { return fmt::format("cannot listen on device {}", device.value); };
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(protocol);
    at.sll_ifindex = static_cast<int>(device.value);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0)
        return fail_errno(errno, what());
    if (group) {
        packet_mreq request{};
        request.mr_ifindex = at.sll_ifindex;
        request.mr_type = PACKET_MR_MULTICAST;
        request.mr_alen = static_cast<unsigned short>(group->bytes.size());
        std::ranges::copy(group->bytes, request.mr_address);
        if (::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) < 0)
            return fail_errno(errno, what());
    }
    // Before the team's own packets in a full queue.
    constexpr int priority = TC_PRIO_CONTROL;
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority) < 0)
        return fail_errno(errno, what());
    return PortSocket(std::move(socket), device);
}

Result<> PortSocket::send(std::span<const std::byte> frame) {
    if (::send(socket_.get(), frame.data(), frame.size(), 0) < 0)
        return fail_errno(errno, fmt::format("cannot send a frame to device {}", device_.value));
    return {};
}

std::optional<std::span<const std::byte>> PortSocket::receive(std::span<std::byte> into) {
    for (;;) {
        sockaddr_ll from{};
        socklen_t size = sizeof from;
        const auto length =
            ::recvfrom(socket_.get(), into.data(), into.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (length < 0) {
            if (errno == EINTR || errno == ENETDOWN) continue; // the device went down: reported once
            return std::nullopt;
        }
        if (from.sll_pkttype != PACKET_OUTGOING) return into.first(static_cast<std::size_t>(length));
    }
}

} // namespace teamo
