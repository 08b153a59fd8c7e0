// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which frames stay with the port, which go to the team and which are dropped. The programs run on the
// loopback device (index 1) unless a frame must be received.
#include "addresses.h"
#include "programs.h"
#include "support/net/net_ns.h"
#include "support/traffic/packet.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <net/if.h>

namespace teamo::test {
namespace {

constexpr std::uint32_t loopback = 1;

MacAddress link_local(std::uint8_t last) { return {{0x01, 0x80, 0xc2, 0x00, 0x00, last}}; }
Bytes frame_to(const MacAddress& to) { return PacketBuilder(to, peer).other(0x88b5, 46).bytes(); }

class ReceiveProgram : public testing::Test {
protected:
    ReceiveProgram() { programs_.team.port_ifindex[3] = loopback; }

    Programs programs_;
};

TEST_F(ReceiveProgram, delivers_frames_to_team) {
    for (const auto& to :
         {own, MacAddress{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, MacAddress{{0x33, 0x33, 0, 0, 0, 1}}}) {
        const auto verdict = programs_.receive(frame_to(to));
        EXPECT_EQ(verdict.action, redirected);
        EXPECT_EQ(verdict.slots, slot_set({3}));
        EXPECT_EQ(verdict.counters.rx_packets, 1U);
        EXPECT_EQ(verdict.counters.rx_bytes, frame_to(to).size());
        EXPECT_EQ(verdict.counters.rx_dropped + verdict.counters.tx_packets, 0U);
    }
}

TEST_F(ReceiveProgram, leaves_the_ports_protocol_to_the_port) {
    constexpr std::uint16_t tipc = 0x88ca;
    const auto frame = PacketBuilder(own, peer).other(tipc, 46).bytes();
    EXPECT_EQ(programs_.receive(frame).action, redirected);
    programs_.team.port_protocol = htons(tipc);
    EXPECT_EQ(programs_.receive(frame).action, passed);
    EXPECT_EQ(programs_.receive(frame_to(own)).action, redirected);
}

TEST_F(ReceiveProgram, finds_slot_by_device) {
    programs_.team.port_ifindex[3] = 1003;
    for (unsigned slot = 1; slot < TEAMO_SLOTS; slot++) {
        programs_.team.port_ifindex[slot] = loopback;
        EXPECT_EQ(programs_.receive(frame_to(own)).slot, slot);
        programs_.team.port_ifindex[slot] = 1000 + slot;
    }
}

TEST_F(ReceiveProgram, passes_frames_of_foreign_devices) {
    programs_.team.port_ifindex[3] = 0;
    for (const auto& to : {own, link_local(2), link_local(14)}) {
        const auto verdict = programs_.receive(frame_to(to));
        EXPECT_EQ(verdict.action, passed);
        EXPECT_EQ(verdict.slots, 0U);
    }
}

TEST_F(ReceiveProgram, drops_frames_of_inactive_port) {
    programs_.live.rx = all_slots & ~slot_set({3});
    const auto verdict = programs_.receive(frame_to(own));
    EXPECT_EQ(verdict.action, dropped);
    EXPECT_EQ(verdict.slots, slot_set({3}));
    EXPECT_EQ(verdict.counters.rx_dropped, 1U);
    EXPECT_EQ(verdict.counters.rx_packets, 0U);
}

TEST_F(ReceiveProgram, counts_what_it_leaves_to_the_port) {
    programs_.receive(frame_to(link_local(2)));
    EXPECT_EQ(programs_.counters_of(3).rx_left, 1U);
}

/// What another program accepted, and nftables sent to the inner end.
TEST_F(ReceiveProgram, is_repeated_for_accepted_frames) {
    EXPECT_EQ(programs_.run(programs_.recheck_program(), frame_to(own), loopback, 0, 1).action, passed);
    programs_.live.rx = all_slots & ~slot_set({3});
    const auto verdict = programs_.run(programs_.recheck_program(), frame_to(own), loopback, 0, 1);
    EXPECT_EQ(verdict.action, dropped);
    EXPECT_EQ(verdict.counters.rx_dropped, 1U);
    programs_.team.port_ifindex[3] = 1003;
    EXPECT_EQ(programs_.run(programs_.recheck_program(), frame_to(own), loopback, 0, 1).action, passed)
        << "not from a port";
}

TEST_F(ReceiveProgram, ignores_transmit_state) {
    programs_.live.tx = 0;
    EXPECT_EQ(programs_.receive(frame_to(own)).action, redirected);
}

TEST_F(ReceiveProgram, passes_link_local_frames_to_port) {
    for (const std::uint32_t rx : {all_slots, 0U}) {
        programs_.live.rx = rx;
        for (std::uint8_t last = 0; last < 16; last++) {
            const auto verdict = programs_.receive(frame_to(link_local(last)));
            EXPECT_EQ(verdict.action, passed) << int{last};
            EXPECT_EQ(verdict.slots, 0U) << "the inner device does not exist, so no copy was taken";
        }
        EXPECT_NE(programs_.receive(frame_to(link_local(16))).action, passed)
            << "01:80:c2:00:00:10 is not link-local";
        EXPECT_NE(programs_.receive(frame_to({{0x01, 0x80, 0xc2, 0x00, 0x01, 0x02}})).action, passed);
    }
}

TEST_F(ReceiveProgram, copies_link_local_frames_to_team) {
    const auto ns = NetNs::create();
    ns.ip("link add inner type veth peer name team0\nlink set inner up\nlink set team0 up");
    ns.inside([&] {
        programs_.team.inner_ifindex = if_nametoindex("inner");
        const PacketSocket team(ns, "team0");
        ASSERT_TRUE(eventually("inner carries", [&] {
            return programs_.receive(frame_to(link_local(14))).counters.rx_packets == 1;
        }));
        team.drain(0);
        for (std::uint8_t last = 0; last < 16; last++) {
            const bool link_only = last == 1 || last == 2; // pause and slow protocols
            const auto verdict = programs_.receive(frame_to(link_local(last)));
            EXPECT_EQ(verdict.action, passed);
            EXPECT_EQ(verdict.counters.rx_packets, link_only ? 0U : 1U) << int{last};
            const auto copy = [&](const Seen& seen) { return seen.frame == frame_to(link_local(last)); };
            EXPECT_EQ(team.await(copy, link_only ? 50ms : 2000ms).has_value(), !link_only) << int{last};
        }
        programs_.live.rx = 0;
        EXPECT_EQ(programs_.receive(frame_to(link_local(14))).counters.rx_packets, 0U);
    });
}

TEST_F(ReceiveProgram, gives_eapol_to_port_and_team) {
    const auto ns = NetNs::create();
    ns.ip("link add inner type veth peer name team0\nlink set inner up\nlink set team0 up");
    ns.inside([&] {
        programs_.team.inner_ifindex = if_nametoindex("inner");
        const auto frame = PacketBuilder(own, peer).other(0x888e, 46).bytes(); // an authenticator's reply
        EXPECT_EQ(programs_.receive(frame).action, passed);
        ASSERT_TRUE(
            eventually("inner carries", [&] { return programs_.receive(frame).counters.rx_packets == 1; }));
        programs_.live.rx = 0; // a port that does not receive for the team authenticates, too
        const auto verdict = programs_.receive(frame);
        EXPECT_EQ(verdict.action, passed);
        EXPECT_EQ(verdict.counters.rx_packets, 0U);
    });
}

TEST_F(ReceiveProgram, survives_truncated_frames) {
    const auto whole = PacketBuilder(own, peer).vlan(1).ipv4({}).tcp(1, 2).payload(64).bytes();
    // The tag, because BPF_PROG_TEST_RUN rejects a bare Ethernet header and a packet too short for IP.
    for (std::ptrdiff_t length = 15; length <= 80; length++)
        EXPECT_EQ(programs_.receive(Bytes(whole.begin(), whole.begin() + length)).action, redirected)
            << length;
}

} // namespace
} // namespace teamo::test
