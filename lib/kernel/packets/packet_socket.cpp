// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/packet_socket.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

namespace teamo {

Result<PacketSocket> PacketSocket::open() {
    // Protocol 0: the socket receives nothing.
    UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "cannot open a packet socket");
    return PacketSocket(std::move(socket));
}

Result<> PacketSocket::send(IfIndex device, std::span<const std::byte> frame) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(device.value);
    const auto sent = ::sendto(socket_.get(), frame.data(), frame.size(), 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (sent < 0) return fail_errno(errno, fmt::format("cannot send a frame to device {}", device.value));
    return {};
}

} // namespace teamo
