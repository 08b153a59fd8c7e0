// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/skb_sizes.h"

#include "support/daemon/process.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>

namespace teamo::test {

SkbSizes::SkbSizes(const std::string& device) : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_protocol = htons(ETH_P_ALL);
    to.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    const int buffer = 32 << 20;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
        throw SetupError("cannot capture on " + device);
    counting_ = std::jthread([this](const std::stop_token& stop) { count(stop); });
}

void SkbSizes::count(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::array<char, 64> head{};
        sockaddr_ll from{};
        socklen_t size = sizeof from;
        const auto length = ::recvfrom(socket_.get(), head.data(), head.size(), MSG_TRUNC,
                                       reinterpret_cast<sockaddr*>(&from), &size);
        if (length <= 0 || from.sll_pkttype != PACKET_OUTGOING) continue;
        ++packets_;
        bytes_ += static_cast<std::uint64_t>(length);
    }
}

} // namespace teamo::test
