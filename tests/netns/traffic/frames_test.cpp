// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames on the wire: tags, sizes, addresses of other hosts.
//
// lab: Frames.* by bpf on newest, 18 s
// lab: Frames.* by bpf on 6.1, 18 s, long
#include "netns/configs.h"
#include "support/daemon/team_under_test.h"
#include "support/net/far_ends.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

const MacAddress far_station = mac("02:00:00:00:00:02");

bool is_experiment_in(const Seen& seen) {
    return ethertype_of(seen.frame) == ether_experiment && !seen.outgoing;
}

TEST(Frames, keeps_the_vlan_tag_outbound) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const PacketSocket here(wires.host(), "team0");
    const FarEnds far(wires);
    const std::uint16_t tci = 5U << 13 | 100;
    here.send(tagged(far_station, mac(look(wires.host(), "team0").address), tci, ether_experiment, "out"));
    auto frames = far.drain(1, is_experiment_in);
    frames[0].insert(frames[0].end(), frames[1].begin(), frames[1].end());
    ASSERT_EQ(1U, frames[0].size());
    const auto& seen = frames[0].front();
    EXPECT_EQ(tci, seen.tag);
    EXPECT_TRUE(from_offset(seen.frame, 14).starts_with("out"));
}

TEST(Frames, keeps_the_vlan_tag_inbound) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const PacketSocket here(wires.host(), "team0"), far(wires.peer(), "p2");
    const std::uint16_t tci = 3U << 13 | 4094;
    far.send(tagged(mac(look(wires.host(), "team0").address), far_station, tci, ether_experiment, "in"));
    const auto seen = here.await(is_experiment_in);
    ASSERT_TRUE(seen);
    EXPECT_EQ(tci, seen->tag);
    EXPECT_TRUE(from_offset(seen->frame, 14).starts_with("in"));
    EXPECT_FALSE(here.await(is_experiment_in, 100ms)) << "a second time";
}

TEST(Frames, marks_those_for_other_hosts) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const PacketSocket here(wires.host(), "team0"), far(wires.peer(), "p2");
    here.be_promiscuous();
    const auto listening = [&] { return look(wires.host(), "eth2").promiscuity > 0; };
    EXPECT_TRUE(eventually("the port is promiscuous too", listening));
    far.send(ethernet(mac("02:00:00:00:00:99"), far_station, ether_experiment, "not yours"));
    const auto seen = here.await(is_experiment_in);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->to_other_host);
}

TEST(Frames, leaves_link_local_to_the_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const PacketSocket port(wires.host(), "eth1", ether_lldp), far(wires.peer(), "p1");
    far.send(ethernet(mac("01:80:c2:00:00:0e"), far_station, ether_lldp, "who is there"));
    EXPECT_TRUE(port.await([](const Seen&) { return true; }));
}

TEST(Frames, sends_those_of_a_port_by_that_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const PacketSocket port(wires.host(), "eth2", ether_lldp), far(wires.peer(), "p2", ether_lldp);
    port.send(ethernet(mac("01:80:c2:00:00:0e"), far_station, ether_lldp, "here I am"));
    EXPECT_TRUE(far.await([](const Seen&) { return true; }));
}

TEST(Frames, passes_smallest_and_largest_unchanged) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link set team0 mtu 9000");
    const PacketSocket here(wires.host(), "team0");
    for (unsigned number = 1; number <= 2; ++number) {
        ASSERT_TRUE(becomes(9000U, [&] { return look(wires.host(), Cabling::port(number)).mtu; }));
        const PacketSocket far(wires.peer(), Cabling::far_end(number));
        for (const std::size_t size : {46U, 1499U, 1500U, 9000U}) {
            std::string payload(size, 'x');
            payload.back() = 'y';
            const auto frame =
                ethernet(mac(look(wires.host(), "team0").address), far_station, ether_experiment, payload);
            far.send(frame);
            const auto seen = here.await(is_experiment_in);
            ASSERT_TRUE(seen) << size;
            EXPECT_EQ(frame, seen->frame) << size;
        }
    }
}

} // namespace
} // namespace teamo::test
