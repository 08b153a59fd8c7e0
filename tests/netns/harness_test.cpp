// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The test harness itself on a plain cable: the other tests only see what it reports.
//
// lab: Harness.* by none: no daemon runs
#include "support/daemon/process.h"
#include "support/net/cabling.h"
#include "support/net/links.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <netinet/in.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

TEST(Harness, has_namespaces_of_its_own) {
    const auto devices = must(NetNs::current(), "ls /sys/class/net");
    EXPECT_EQ("lo\n", devices);
    EXPECT_EQ("", must(NetNs::current(), "find /run -mindepth 1 ! -type d"));
}

TEST(Harness, loses_no_packet_on_a_plain_cable) {
    const Cabling wires(1, FarSide::lag_switch);
    wires.address("eth1");
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 20'000});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v6, .rate = 20'000});
    // Wait for packets, not for time: a busy machine sends them late.
    EXPECT_TRUE(out.flows(10'000, 30s));
    EXPECT_TRUE(in.flows(10'000, 30s));
    out.stop();
    in.stop();
    EXPECT_EQ(0U, out.tally().lost) << text_of(out.tally());
    EXPECT_EQ(0U, in.tally().lost) << text_of(in.tally());
    EXPECT_EQ(0U, in.tally().duplicated + out.tally().duplicated);
    fmt::print("out: {}\nin: {}\n", text_of(out.tally()), text_of(in.tally()));
}

TEST(Harness, counts_losses_of_a_pulled_cable) {
    const Cabling wires(1, FarSide::lag_switch);
    wires.address("eth1");
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4});
    const auto before = out.next();
    EXPECT_TRUE(out.flows()) << "what was sent before has arrived";
    wires.pull(1);
    const auto pulled = out.next();
    EXPECT_TRUE(eventually("500 more packets are sent", [&] { return out.next() > pulled + 500; }));
    wires.plug(1);
    EXPECT_TRUE(out.flows());
    out.stop();
    EXPECT_GT(out.tally(before, out.next()).lost, 300U);
    EXPECT_EQ(0U, out.tally(0, before).lost);
}

TEST(Harness, transfers_over_ipv4_and_ipv6) {
    const Cabling wires(1, FarSide::learning_switch);
    wires.address("eth1");
    for (const auto* address : {client_v4, client_v6}) {
        EXPECT_TRUE(reaches(wires.host(), address));
        EXPECT_TRUE(carries_tcp(wires.host(), wires.client(), address, 1'000'000));
    }
    EXPECT_FALSE(answers_echo(wires.host(), "10.0.0.77", 50ms));
}

TEST(Harness, snapshot_shows_a_changed_setting) {
    const Cabling wires(1, FarSide::open);
    const auto before = snapshot(wires.host(), "eth1");
    EXPECT_THAT(before, HasSubstr("\"mtu\": 1500"));
    EXPECT_THAT(before, HasSubstr("ipv6/conf/eth1/disable_ipv6:0"));
    EXPECT_EQ(before, snapshot(wires.host(), "eth1"));
    must(wires.host(), "tc qdisc add dev eth1 clsact");
    EXPECT_NE(before, snapshot(wires.host(), "eth1"));
    must(wires.host(), "tc qdisc del dev eth1 clsact");
    EXPECT_EQ(before, snapshot(wires.host(), "eth1"));
}

TEST(Harness, extracts_a_vlan_tag) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link set eth1 up");
    await_operation(wires.peer(), "p1");
    const PacketSocket here(wires.host(), "eth1"), there(wires.peer(), "p1");
    const auto payload = std::string("a tagged frame");
    there.send(tagged(mac("02:00:00:00:00:01"), mac("02:00:00:00:00:02"), 0x6007, ether_experiment, payload));
    const auto seen = here.await(
        [](const Seen& frame) { return !frame.outgoing && ethertype_of(frame.frame) == ether_experiment; });
    ASSERT_TRUE(seen);
    EXPECT_EQ(0x6007, seen->tag);
    EXPECT_TRUE(from_offset(seen->frame, 14).starts_with(payload));
    EXPECT_TRUE(seen->to_other_host);
}

TEST(Harness, builds_a_valid_datagram) {
    const Cabling wires(1, FarSide::open);
    wires.address("eth1");
    const PacketSocket there(wires.peer(), "p1");
    there.send(arp_request(mac("02:00:00:00:00:02"), client_v4, team_v4));
    EXPECT_TRUE(there.await(
        [](const Seen& frame) { return ethertype_of(frame.frame) == ether_arp && !frame.outgoing; }));
    there.send(udp4({.to_mac = mac(look(wires.host(), "eth1").address),
                     .from_mac = mac("02:00:00:00:00:02"),
                     .to = team_v4,
                     .from = client_v4,
                     .to_port = 9,
                     .from_port = 9},
                    "no program listens"));
    EXPECT_TRUE(there.await([](const Seen& frame) { return ipv4_protocol_of(frame.frame) == IPPROTO_ICMP; }))
        << "no ICMP port unreachable came back";
}

} // namespace
} // namespace teamo::test
