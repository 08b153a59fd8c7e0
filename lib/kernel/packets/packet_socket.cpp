// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/packet_socket.h"

#include "kernel/packets/classic_bpf.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace teamo {
namespace {

std::vector<sock_filter> group_filter() {
    ClassicBpf code;
    const auto take = code.label(), drop = code.label();
    const auto load = [&code](unsigned size, std::uint32_t at) { code.emit(BPF_LD | size | BPF_ABS, at); };
    load(BPF_B, ancillary(SKF_AD_PKTTYPE));
    code.jump_if(BPF_JEQ, PACKET_OUTGOING, drop);
    load(BPF_B, ancillary(SKF_AD_VLAN_TAG_PRESENT));
    code.jump_unless(BPF_JEQ, 0, drop);
    load(BPF_B, 0);
    code.jump_unless(BPF_JSET, 1, drop); // multicast bit
    load(BPF_W, 0);
    code.jump_unless(BPF_JEQ, 0x0180c200, take);
    load(BPF_H, 4);
    code.jump_unless(BPF_JGT, 0x000f, drop);
    code.place(take);
    code.emit(BPF_RET | BPF_K, GroupFrames::most_bytes);
    code.place(drop);
    code.emit(BPF_RET | BPF_K, 0);
    return code.finish();
}

/// All other packets cost only this filter, and do not fill the socket's buffer.
Result<> attach_filter(int socket) {
    auto program = group_filter();
    const sock_fprog all{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
    if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) < 0)
        return fail_errno(errno, "cannot attach the filter for multicast frames");
    return {};
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

Result<UniqueFd> listen_at(IfIndex port) {
    auto socket = TEAMO_TRY(open_socket());
    TEAMO_TRY(attach_filter(socket.get()));
    constexpr int yes = 1;
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) < 0)
        return fail_errno(errno, "cannot enable timestamps on a packet socket");
    const auto at = address_of(port, ETH_P_ALL);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0)
        return fail_errno(errno, fmt::format("cannot listen on device {}", port.value));
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
