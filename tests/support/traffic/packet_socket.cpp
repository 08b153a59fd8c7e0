// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/packet_socket.h"

#include "support/daemon/process.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace teamo::test {
namespace {

template <class Value>
void set_option(int socket, int level, int name, const Value& value) {
    if (::setsockopt(socket, level, name, &value, sizeof value) < 0)
        throw SetupError(fmt::format("socket option {}/{}: {}", level, name, std::strerror(errno)));
}

/// The kernel's control message of this type; none if there is none.
template <class Value>
std::optional<Value> said_beside(msghdr& message, int level, int type) {
    for (auto* control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(&message, control)) {
        if (control->cmsg_level != level || control->cmsg_type != type) continue;
        Value value{};
        std::memcpy(&value, CMSG_DATA(control), sizeof value);
        return value;
    }
    return std::nullopt;
}

std::optional<std::uint16_t> tag_of(msghdr& message) {
    const auto auxiliary = said_beside<tpacket_auxdata>(message, SOL_PACKET, PACKET_AUXDATA);
    if (!auxiliary || (auxiliary->tp_status & TP_STATUS_VLAN_VALID) == 0) return std::nullopt;
    return auxiliary->tp_vlan_tci;
}

std::chrono::nanoseconds arrival_of(msghdr& message) {
    const auto stamp = said_beside<timespec>(message, SOL_SOCKET, SCM_TIMESTAMPNS).value_or(timespec{});
    return std::chrono::seconds(stamp.tv_sec) + std::chrono::nanoseconds(stamp.tv_nsec);
}

} // namespace

PacketSocket::PacketSocket(const NetNs& in, std::string_view device, std::uint16_t ethertype)
    : socket_(in.inside([] { return ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); })),
      index_(in.inside([&] { return static_cast<int>(::if_nametoindex(std::string(device).c_str())); })) {
    set_option(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20);
    set_option(socket_.get(), SOL_PACKET, PACKET_AUXDATA, 1);
    set_option(socket_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ethertype);
    address.sll_ifindex = index_;
    if (index_ == 0 || ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
        throw SetupError(fmt::format("cannot listen on {}: {}", device, std::strerror(errno)));
}

void PacketSocket::send(const Bytes& frame) const {
    while (::send(socket_.get(), frame.data(), frame.size(), 0) < 0) {
        if (errno != ENOBUFS)
            throw SetupError(fmt::format("a frame of {} bytes: {}", frame.size(), std::strerror(errno)));
        std::this_thread::sleep_for(1ms);
    }
}

std::optional<Seen> PacketSocket::receive(milliseconds patience) const {
    pollfd arrival{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&arrival, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    static thread_local std::array<std::byte, 1 << 17> space;
    alignas(cmsghdr) std::array<char, 256> control{};
    sockaddr_ll from{};
    iovec part{.iov_base = space.data(), .iov_len = space.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto size = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (size < 0) return std::nullopt; // the device went down, or another reader got the frame
    return Seen{.frame = Bytes(space.begin(), space.begin() + size),
                .tag = tag_of(message),
                .outgoing = from.sll_pkttype == PACKET_OUTGOING,
                .to_other_host = from.sll_pkttype == PACKET_OTHERHOST,
                .arrival = arrival_of(message)};
}

std::vector<Seen> PacketSocket::drain(std::size_t expected, milliseconds silence) const {
    std::vector<Seen> all;
    while (auto seen = receive(all.size() < expected ? patient(long_enough) : silence))
        all.push_back(std::move(*seen));
    return all;
}

std::optional<Seen> PacketSocket::await(const std::function<bool(const Seen&)>& wanted,
                                        milliseconds patience) const {
    for (const auto start = SteadyClock::now(); since(start) < patient(patience);)
        if (auto seen = receive(10ms); seen && wanted(*seen)) return seen;
    return std::nullopt;
}

void PacketSocket::be_promiscuous() const {
    packet_mreq membership{};
    membership.mr_ifindex = index_;
    membership.mr_type = PACKET_MR_PROMISC;
    set_option(socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership);
}

} // namespace teamo::test
