// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classic_program.h"

#include "base/handle.h"
#include "datapath/team/hash_program.h"
#include "support/daemon/process.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
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

void filter(int socket, std::vector<sock_filter> program) {
    const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
    if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0)
        throw SetupError("the kernel rejects a filter of " + std::to_string(program.size()) +
                         " instructions");
}

/// How many bytes of the packet a socket with that filter receives: 0, or what the program returns.
std::size_t left_by(std::vector<sock_filter> program, const Bytes& packet) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) < 0)
        throw SetupError("cannot make a socket pair");
    const UniqueFd here(pair[0]), there(pair[1]);
    filter(there.get(), std::move(program));
    if (::send(here.get(), packet.data(), packet.size(), 0) < 0) throw SetupError("cannot send");
    std::array<char, 1> byte{};
    return static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(there.get(), byte.data(), 1, MSG_TRUNC)));
}

/// The program without its last instruction ("return A" or "return k"); the value is in A.
std::vector<sock_filter> into_a(std::vector<sock_filter> program) {
    const auto last = program.back();
    program.pop_back();
    if (last.code == (BPF_RET | BPF_K)) program.push_back({BPF_LD | BPF_IMM, 0, 0, last.k});
    return program;
}

/// The lowest byte that a program returns, read from the length that variants of it leave of the packet.
/// A long packet is cut to the value plus one, so that 0 is not a lost packet; a short one is cut to one or
/// two bytes, once for each bit.
template <class Left>
std::uint32_t low_byte_by(const std::vector<sock_filter>& program, const Bytes& packet, const Left& left) {
    const auto some = [&](const std::vector<sock_filter>& asked) {
        const auto size = static_cast<std::uint32_t>(left(asked));
        if (size == 0) throw SetupError(fmt::format("a packet of {} bytes did not arrive", packet.size()));
        return size;
    };
    constexpr std::size_t any_value_and_a_tag = 256 + 4;
    if (packet.size() > any_value_and_a_tag) {
        auto plus_one = into_a(program);
        plus_one.push_back({BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1});
        plus_one.push_back({BPF_RET | BPF_A, 0, 0, 0});
        return some(plus_one) - 1;
    }
    std::uint32_t value = 0;
    for (std::uint32_t bit = 0; bit < 8; ++bit) {
        auto one_or_two = into_a(program);
        one_or_two.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, 1U << bit});
        one_or_two.push_back({BPF_RET | BPF_K, 0, 0, 2});
        one_or_two.push_back({BPF_RET | BPF_K, 0, 0, 1});
        value |= (some(one_or_two) - 1) << bit;
    }
    return value;
}

} // namespace

std::uint32_t low_byte_by_kernel(const std::vector<sock_filter>& program, const Bytes& packet) {
    return low_byte_by(program, packet, [&](const auto& asked) { return left_by(asked, packet); });
}

std::uint32_t classic_bucket_of(const Bytes& packet, std::uint32_t hash_fields) {
    return low_byte_by_kernel(hash_program(hash_fields), packet);
}

namespace {

UniqueFd packet_socket(const char* device, std::uint16_t protocol) {
    UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(protocol);
    address.sll_ifindex = static_cast<int>(if_nametoindex(device));
    if (::setsockopt(socket.get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) < 0 ||
        ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
        throw SetupError(std::string("cannot listen on ") + device + ": " + std::strerror(errno));
    return socket;
}

struct Arrival {
    std::size_t size = 0;
    std::array<std::byte, 6> from{}; ///< known even if the filter cut off the address
    bool tag_beside = false;
};

std::optional<Arrival> arrival(int socket, milliseconds patience) {
    pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    std::array<char, 1> byte{};
    alignas(cmsghdr) std::array<char, 256> control{};
    sockaddr_ll from{};
    iovec part{.iov_base = byte.data(), .iov_len = byte.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto size = ::recvmsg(socket, &message, MSG_TRUNC);
    if (size < 0) throw SetupError(std::string("cannot receive: ") + std::strerror(errno));
    Arrival seen{.size = static_cast<std::size_t>(size)};
    std::memcpy(seen.from.data(), from.sll_addr, seen.from.size());
    tpacket_auxdata beside{};
    if (const auto* data = CMSG_FIRSTHDR(&message); data != nullptr)
        std::memcpy(&beside, CMSG_DATA(data), sizeof beside);
    seen.tag_beside = (beside.tp_status & TP_STATUS_VLAN_VALID) != 0;
    return seen;
}

} // namespace

FilteredWire::FilteredWire() {
    ns_.ip("link add near mtu 9000 type veth peer name far mtu 9000\n"
           "link set near up\nlink set far up");
    near_ = ns_.inside([] { return packet_socket("near", 0); });
    far_ = ns_.inside([] { return packet_socket("far", ETH_P_ALL); });
    // The kernel activates a device's queue some time after its carrier; until then frames are dropped.
    const std::vector<sock_filter> all = {{BPF_RET | BPF_K, 0, 0, 0xffff}};
    for (int i = 0; i < 100; i++)
        if (left_by(all, Bytes(64), 50ms)) return;
    throw SetupError("no frame passes the veth pair");
}

std::optional<std::size_t> FilteredWire::left_by(const std::vector<sock_filter>& program, const Bytes& frame,
                                                 milliseconds patience) {
    filter(far_.get(), program);
    if (::send(near_.get(), frame.data(), frame.size(), 0) < 0)
        throw SetupError(fmt::format("a frame of {} bytes: {}", frame.size(), std::strerror(errno)));
    // The kernel sends frames of its own, from other addresses.
    while (const auto seen = arrival(far_.get(), patience))
        if (std::equal(seen->from.begin(), seen->from.end(), frame.begin() + 6)) {
            tag_beside_ = seen->tag_beside;
            return seen->size;
        }
    return std::nullopt;
}

std::uint32_t FilteredWire::low_byte(const std::vector<sock_filter>& program, const Bytes& frame) {
    return low_byte_by(program, frame, [&](const auto& asked) { return left_by(asked, frame).value_or(0); });
}

} // namespace teamo::test
