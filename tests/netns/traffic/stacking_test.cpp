// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Devices on top of a team.
//
// lab: Stacking.* by bpf on 6.12, 20 s, long
// lab: Stacking.* by bpf on 6.1, 20 s, long
#include "netns/configs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr const char* guest_v4 = "10.0.0.3";
constexpr const char* guest_v6 = "fd00::3";

void address_guest(const NetNs& guest, std::string_view device) {
    guest.ip(fmt::format("link set {0} up\naddr add {1}/24 dev {0}\naddr add {2}/64 dev {0} nodad", device,
                         guest_v4, guest_v6));
}

void expect_guest_and_client_talk(const Cabling& wires, const NetNs& guest) {
    for (const auto* address : {client_v4, client_v6}) {
        EXPECT_TRUE(reaches(guest, address));
        EXPECT_TRUE(carries_tcp(guest, wires.client(), address, 2'000'000)) << address;
    }
    for (const auto* address : {guest_v4, guest_v6}) {
        EXPECT_TRUE(reaches(wires.client(), address));
        EXPECT_TRUE(carries_tcp(wires.client(), guest, address, 2'000'000)) << address;
    }
}

TEST(Stacking, macvlan_passes_both_ways) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    const auto guest = NetNs::create();
    wires.host().ip("link add link team0 name guest0 type macvlan mode bridge");
    wires.host().ip(fmt::format("link set guest0 netns {}", guest.path()));
    address_guest(guest, "guest0");
    expect_guest_and_client_talk(wires, guest);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Stacking, bridge_connects_guest_and_host) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    const auto guest = NetNs::create();
    wires.host().ip(fmt::format("link add dev bridge0 type bridge forward_delay 0\n"
                                "link set team0 up master bridge0\n"
                                "link add dev toguest type veth peer name guest0 netns {}\n"
                                "link set toguest up master bridge0",
                                guest.path()));
    wires.address("bridge0");
    address_guest(guest, "guest0");
    expect_guest_and_client_talk(wires, guest);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_TRUE(reaches(wires.host(), guest_v4));
}

TEST(Stacking, bridge_over_activebackup_gets_no_copies) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(2));
    wires.host().ip("link add dev bridge0 type bridge forward_delay 0\nlink set team0 up master bridge0");
    wires.address("bridge0");
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    Stream stream({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 2'000});
    EXPECT_TRUE(stream.flows(400));
    stream.stop();
    EXPECT_EQ(0U, stream.tally().lost + stream.tally().duplicated) << text_of(stream.tally());
}

TEST(Stacking, port_that_others_use_joins_when_they_have_gone) {
    const Cabling wires(3, FarSide::open);
    const auto guest = NetNs::create();
    wires.host().ip(fmt::format("link add link eth1 name guest0 type macvlan mode bridge\n"
                                "link set guest0 netns {}\n"
                                "link add link eth2 name mv0 type macvlan mode bridge",
                                guest.path()));
    guest.ip("link set guest0 up");
    const TeamUnderTest team(loadbalance(3));
    if (!exists(wires.host(), "tmo0")) GTEST_SKIP() << "the kernel's drivers refuse such a port themselves";
    ASSERT_TRUE(team.await_link("eth3"));
    EXPECT_EQ("", team.item("ports.eth1.link.up") + team.item("ports.eth2.link.up"));
    EXPECT_THAT(team.log(), testing::HasSubstr("port eth1: has the additional MAC address "));
    EXPECT_THAT(team.log(),
                testing::HasSubstr("port eth2: carries mv0 (macvlan), which would receive nothing"));
    guest.ip("link del guest0");
    wires.host().ip("link del mv0");
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(team.await_link("eth2"));
    wires.host().ip("link add link eth2 name mv0 type macvlan mode bridge");
    EXPECT_TRUE(eventually("the log names it", [&] {
        return team.log().find("port eth2: carries mv0 (macvlan), which receives nothing") !=
               std::string::npos;
    }));
}

TEST(Stacking, port_leaves_for_a_bridge) {
    const Cabling wires(2, FarSide::open);
    const auto own = look(wires.host(), "eth2").address;
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link add dev bridge0 type bridge\nlink set eth2 master bridge0");
    EXPECT_TRUE(becomes("", [&] { return team.item("ports.eth2.link.up"); }));
    EXPECT_TRUE(becomes(own, [&] { return look(wires.host(), "eth2").address; }));
    EXPECT_EQ("bridge0", look(wires.host(), "eth2").master);
    EXPECT_THAT(team.log(), testing::HasSubstr("port eth2 was made a port of bridge0 by another program"));
    team.kill();
    wires.host().ip("link set eth1 master bridge0");
    team.start();
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
    EXPECT_EQ("bridge0", look(wires.host(), "eth1").master);
}

TEST(Stacking, stop_leaves_the_bridge) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    wires.host().ip(
        "link add dev bridge0 type bridge\nlink set team0 up master bridge0\nlink set bridge0 up");
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_TRUE(exists(wires.host(), "bridge0"));
}

} // namespace
} // namespace teamo::test
