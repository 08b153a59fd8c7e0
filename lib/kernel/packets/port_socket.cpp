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

namespace {

packet_mreq membership(IfIndex device, unsigned short type, const MacAddress& address) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(device.value);
    request.mr_type = type;
    request.mr_alen = static_cast<unsigned short>(address.bytes.size());
    std::ranges::copy(address.bytes, request.mr_address);
    return request;
}

} // namespace

Result<PortSocket> PortSocket::open(IfIndex device, const What& what) {
    // Protocol 0: receives nothing before bind().
    UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "cannot open a packet socket");
    const auto set = [&](int level, int name, const void* value, std::size_t size) -> Result<> {
        if (::setsockopt(socket.get(), level, name, value, static_cast<socklen_t>(size)) == 0) return {};
        return fail_errno(errno, fmt::format("cannot listen on device {}", device.value));
    };
    if (!what.filter.empty()) {
        auto filter = what.filter;
        const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
        TEAMO_TRY(set(SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
    }
    if (what.receive_buffer)
        TEAMO_TRY(set(SOL_SOCKET, SO_RCVBUF, &*what.receive_buffer, sizeof *what.receive_buffer));
    // Otherwise the kernel copies each packet that leaves by the device, before the filter sees it.
    constexpr int yes = 1;
    TEAMO_TRY(set(SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes));
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(what.protocol);
    at.sll_ifindex = static_cast<int>(device.value);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0)
        return fail_errno(errno, fmt::format("cannot listen on device {}", device.value));
    // Before the team's own packets in a full queue.
    constexpr int priority = TC_PRIO_CONTROL;
    TEAMO_TRY(set(SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority));
    PortSocket opened(std::move(socket), device);
    if (what.group) TEAMO_TRY(opened.add_group(*what.group));
    return opened;
}

Result<> PortSocket::add_address(const MacAddress& address) {
    return add_membership(PACKET_MR_UNICAST, address);
}

Result<> PortSocket::add_group(const MacAddress& address) {
    return add_membership(PACKET_MR_MULTICAST, address);
}

Result<> PortSocket::add_membership(unsigned short type, const MacAddress& address) {
    const auto request = membership(device_, type, address);
    if (::setsockopt(socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) < 0)
        return fail_errno(errno,
                          fmt::format("device {} cannot receive at {}", device_.value, text_of(address)));
    return {};
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
