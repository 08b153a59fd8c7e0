// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The programs attached to real devices: a veth pair team0 ~ inner, and a port whose peer is "wire".
// BPF_PROG_TEST_RUN makes only linear packets; this file also sends a nonlinear one.
//
// lab: AttachedPrograms.* in -k 6.1 -p 2, 5 s
// lab: *-CarrierTracing.*:AttachedPrograms.* in -k 6.1 -p 2, 60 s, long
#include "addresses.h"
#include "datapath/bpf/flow_hash.h"
#include "programs.h"
#include "support/daemon/process.h"
#include "support/net/net_ns.h"
#include "support/traffic/packet.h"
#include "support/traffic/packet_socket.h"

#include <bpf/libbpf.h>
#include <gmock/gmock.h>

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cstring>

namespace teamo::test {
namespace {

constexpr std::uint32_t l3_l4 =
    TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP;

class AttachedPrograms : public testing::Test {
protected:
    AttachedPrograms() {
        // Only what the test sends may be counted.
        must(ns_, "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6");
        ns_.ip(
            "link add team0 mtu 9000 type veth peer name inner mtu 9000\nlink set inner up\nlink set team0 "
            "up\n"
            "link add port mtu 9000 type veth peer name wire mtu 9000\nlink set wire up\nlink set port up");
        ns_.inside([&] {
            programs_.team.inner_ifindex = if_nametoindex("inner");
            for (unsigned slot = 1; slot < TEAMO_SLOTS; slot++)
                programs_.team.port_ifindex[slot] = if_nametoindex("port"); // eight slots, one wire
            attach("inner", programs_.transmit_program());
            attach("port", programs_.receive_program());
        });
    }

    static void attach(const char* device, int program) {
        LIBBPF_OPTS(bpf_tc_hook, hook);
        hook.ifindex = static_cast<int>(if_nametoindex(device));
        hook.attach_point = BPF_TC_INGRESS;
        ASSERT_EQ(bpf_tc_hook_create(&hook), 0);
        LIBBPF_OPTS(bpf_tc_opts, options);
        options.prog_fd = program;
        ASSERT_EQ(bpf_tc_attach(&hook, &options), 0);
    }

    /// Sends a frame with only the Ethernet header in the skb's linear part: for a frame longer than a page
    /// packet_snd() takes the linear length from the virtio header.
    void send_nonlinear(const Bytes& frame) {
        const UniqueFd socket(ns_.inside([] { return ::socket(AF_PACKET, SOCK_RAW, 0); }));
        const int on = 1;
        ASSERT_EQ(setsockopt(socket.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0);
        sockaddr_ll to{};
        to.sll_family = AF_PACKET;
        to.sll_ifindex = static_cast<int>(ns_.inside([] { return if_nametoindex("team0"); }));
        struct { // virtio_net_hdr; its header is not valid C++ (a member is named class)
            std::uint8_t flags = 0, gso_type = 0;
            std::uint16_t header_length = 14, gso_size = 0, checksum_start = 0, checksum_offset = 0;
        } const header;
        Bytes message(sizeof header);
        std::memcpy(message.data(), &header, sizeof header);
        message.insert(message.end(), frame.begin(), frame.end());
        ASSERT_EQ(sendto(socket.get(), message.data(), message.size(), 0,
                         reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  static_cast<ssize_t>(message.size()));
    }

    NetNs ns_ = NetNs::create();
    Programs programs_;
};

TEST_F(AttachedPrograms, hashes_nonlinear_packet_like_linear_one) {
    const PacketSocket wire(ns_, "wire");
    for (std::uint16_t port = 1; port <= 16; port++)
        for (const bool ipv4 : {true, false}) {
            const auto packet = [=](std::size_t payload) {
                PacketBuilder builder(peer, own);
                builder.vlan(3);
                if (ipv4)
                    builder.ipv4({}).udp(port, 2222);
                else
                    builder.ipv6({}).extension(PacketBuilder::destination).tcp(port, 2222);
                return builder.payload(payload).bytes();
            };
            const auto bucket = programs_.bucket_of(packet(100), l3_l4);
            programs_.prefer([](std::uint32_t b) { return teamo_bucket{{static_cast<__u8>(b / 32 + 1)}}; });
            programs_.write_maps();
            send_nonlinear(packet(5000));
            EXPECT_TRUE(wire.await([](const Seen& seen) { return seen.frame.size() >= 5000; }));
            EXPECT_GT(programs_.counters_of(bucket / 32 + 1).tx_bytes, 5000U)
                << port << (ipv4 ? " IPv4" : " IPv6");
        }
}

TEST_F(AttachedPrograms, delivers_received_frame_to_team) {
    programs_.write_maps();
    const auto frame = PacketBuilder(peer, own).ipv4({}).udp(1, 2).payload(100).bytes();
    const PacketSocket team(ns_, "team0"), wire(ns_, "wire");
    ASSERT_TRUE(eventually("the wire carries", [&] {
        wire.send(frame);
        return team.await([&](const Seen& seen) { return seen.frame == frame && !seen.outgoing; }, 50ms)
            .has_value();
    }));
    EXPECT_GT(programs_.counters_of(1).rx_packets, 0U);
}

} // namespace
} // namespace teamo::test
