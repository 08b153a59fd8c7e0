// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/packet_socket.h"

#include "kernel/packets/classic_bpf.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace teamo {
namespace {

std::vector<sock_filter> group_filter() {
    ClassicBpf code;
    const auto take = code.label(), drop = code.label();
    code.drop_own_and_tagged(drop);
    code.load(BPF_B, 0);
    code.jump_unless(BPF_JSET, 1, drop); // multicast bit
    code.load(BPF_W, 0);
    code.jump_unless(BPF_JEQ, 0x0180c200, take);
    code.load(BPF_H, 4);
    code.jump_unless(BPF_JGT, 0x000f, drop);
    code.place(take);
    return code.finish_filter(GroupFrames::most_bytes, drop);
}

/// Protocol 0: the socket receives nothing before bind().
Result<UniqueFd> open_socket() {
    UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "cannot open a packet socket");
    return socket;
}

sockaddr_ll address_of(IfIndex device, std::uint16_t protocol = 0) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(protocol);
    address.sll_ifindex = static_cast<int>(device.value);
    return address;
}

std::string cannot_listen_on(IfIndex device) {
    return fmt::format("cannot listen on device {}", device.value);
}

/// Without it the kernel copies each packet that leaves by the device, before the filter sees it.
Result<> ignore_outgoing(int socket, const std::string& failure) {
    constexpr int yes = 1;
    if (::setsockopt(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0) return {};
    return fail_errno(errno, failure);
}

Result<> listen_on(const UniqueFd& socket, IfIndex device, std::uint16_t protocol) {
    const auto at = address_of(device, protocol);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0)
        return fail_errno(errno, cannot_listen_on(device));
    return {};
}

Result<UniqueFd> listen_at(IfIndex port) {
    auto socket = TEAMO_TRY(open_socket());
    // All others that arrive cost only this filter, and do not fill the socket's buffer.
    TEAMO_TRY(attach_filter(socket.get(), group_filter(), "cannot attach the filter for multicast frames"));
    constexpr int yes = 1;
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) < 0)
        return fail_errno(errno, "cannot enable timestamps on a packet socket");
    TEAMO_TRY(ignore_outgoing(socket.get(), "cannot set up a packet socket"));
    TEAMO_TRY(listen_on(socket, port, ETH_P_ALL));
    return socket;
}

std::chrono::nanoseconds time_of(msghdr& message) {
    for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
            timespec when{};
            std::memcpy(&when, CMSG_DATA(part), sizeof when);
            return std::chrono::seconds(when.tv_sec) + std::chrono::nanoseconds(when.tv_nsec);
        }
    return {};
}

} // namespace

Result<PacketSocket> PacketSocket::open() {
    auto socket = TEAMO_TRY(open_socket());
    const auto set = [&socket](int name, int value) -> Result<> {
        if (::setsockopt(socket.get(), SOL_SOCKET, name, &value, sizeof value) == 0) return {};
        return fail_errno(errno, "cannot set up a packet socket");
    };
    // Announcements of hundreds of VLANs leave in one burst, before the team's own packets in a full queue.
    TEAMO_TRY(set(SO_SNDBUFFORCE, 4 * 1024 * 1024));
    TEAMO_TRY(set(SO_PRIORITY, TC_PRIO_CONTROL));
    return PacketSocket(std::move(socket));
}

Result<> PacketSocket::send(IfIndex device, std::span<const std::byte> frame) {
    const auto to = address_of(device);
    const auto sent = ::sendto(socket_.get(), frame.data(), frame.size(), 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (sent < 0) return fail_errno(errno, fmt::format("cannot send a frame to device {}", device.value));
    return {};
}

Result<PortSocket> PortSocket::open(IfIndex device, const What& what) {
    PortSocket opened(TEAMO_TRY(open_socket()), device);
    TEAMO_TRY(opened.set_up(what));
    TEAMO_TRY(listen_on(opened.socket_, device, what.protocol));
    if (what.group) TEAMO_TRY(opened.add_group(*what.group));
    return opened;
}

Result<PortSocket> PortSocket::take(UniqueFd socket, IfIndex device, const What& what) {
    sockaddr_ll at{};
    socklen_t size = sizeof at;
    const auto wanted = address_of(device, what.protocol);
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) < 0 ||
        at.sll_family != wanted.sll_family || at.sll_protocol != wanted.sll_protocol ||
        at.sll_ifindex != wanted.sll_ifindex)
        return fail(ENODEV, cannot_listen_on(device));
    PortSocket taken(std::move(socket), device);
    TEAMO_TRY(taken.set_up(what));
    return taken;
}

Result<> PortSocket::set(int level, int name, const void* value, std::size_t size) {
    if (::setsockopt(socket_.get(), level, name, value, static_cast<socklen_t>(size)) == 0) return {};
    return fail_errno(errno, cannot_listen_on(device_));
}

Result<> PortSocket::set_up(const What& what) {
    if (!what.filter.empty()) TEAMO_TRY(attach_filter(socket_.get(), what.filter, cannot_listen_on(device_)));
    if (what.receive_buffer)
        TEAMO_TRY(set(SOL_SOCKET, SO_RCVBUF, &*what.receive_buffer, sizeof *what.receive_buffer));
    TEAMO_TRY(ignore_outgoing(socket_.get(), cannot_listen_on(device_)));
    // Before the team's own packets in a full queue.
    constexpr int priority = TC_PRIO_CONTROL;
    return set(SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority);
}

Result<> PortSocket::add_address(const MacAddress& address) {
    return add_membership(PACKET_MR_UNICAST, address);
}

Result<> PortSocket::add_group(const MacAddress& address) {
    return add_membership(PACKET_MR_MULTICAST, address);
}

Result<> PortSocket::add_membership(unsigned short type, const MacAddress& address) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(device_.value);
    request.mr_type = type;
    request.mr_alen = static_cast<unsigned short>(address.bytes.size());
    std::ranges::copy(address.bytes, request.mr_address);
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

Result<GroupFrames> GroupFrames::open(std::span<const IfIndex> ports) {
    GroupFrames frames;
    for (const auto port : ports)
        frames.listeners_.push_back({.port = port, .socket = TEAMO_TRY(listen_at(port))});
    return frames;
}

std::vector<GroupFrame> GroupFrames::take() {
    std::vector<GroupFrame> frames;
    for (const auto& listener : listeners_)
        for (std::size_t count = 0; count < most_frames; ++count) {
            std::array<char, most_bytes> bytes{};
            alignas(cmsghdr) std::array<char, 128> control{};
            iovec into{.iov_base = bytes.data(), .iov_len = bytes.size()};
            msghdr message{};
            message.msg_iov = &into;
            message.msg_iovlen = 1;
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            const auto length = ::recvmsg(listener.socket.get(), &message, 0);
            if (length < ETH_HLEN) break;
            GroupFrame frame{.port = listener.port,
                             .source = {},
                             .bytes = std::string(bytes.data(), static_cast<std::size_t>(length)),
                             .at = time_of(message)};
            std::memcpy(frame.source.bytes.data(), bytes.data() + ETH_ALEN, ETH_ALEN);
            frames.push_back(std::move(frame));
        }
    return frames;
}

} // namespace teamo
