// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Activebackup: one port carries, the others are standby.
//
// lab: ActiveBackup.returns_* ActiveBackup.has_no_* by team, 6 s
// lab: ActiveBackup.* StandbyPort.* by bond, 16 s, long
// lab: StandbyPort.* by bpf, 40 s, long
#include "netns/configs.h"
#include "support/daemon/team_under_test.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

const MacAddress neighbour = mac("02:00:00:00:00:02");

std::string active_port(const TeamUnderTest& team) { return team.item("runner.active_port"); }
auto address_of(const Cabling& wires, std::string device) {
    return [&wires, device = std::move(device)] { return look(wires.host(), device).address; };
}
bool is_experiment(const Seen& seen) {
    return ethertype_of(seen.frame) == ether_experiment && !seen.outgoing;
}

TEST(ActiveBackup, returns_to_the_higher_prio) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(
        team_config(activebackup, R"({"eth1": {"prio": -10}, "eth2": {"prio": 100}, "eth3": {}})"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    wires.pull(2);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth3"));
    wires.pull(3);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    wires.plug(2);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
}

TEST(ActiveBackup, stays_with_a_sticky_port) {
    const Cabling wires(2, FarSide::open);
    wires.pull(2);
    const TeamUnderTest team(
        team_config(activebackup, R"({"eth1": {"prio": -10, "sticky": true}, "eth2": {"prio": 100}})"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    wires.plug(2);
    ASSERT_TRUE(team.await_link("eth2"));
    EXPECT_TRUE(stays("eth1 active", [&] { return active_port(team) == "eth1"; }, 100ms));
    wires.pull(1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    wires.plug(1);
    ASSERT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(stays("eth2 active", [&] { return active_port(team) == "eth2"; }, 100ms));
}

TEST(ActiveBackup, has_no_active_port_without_a_link) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    wires.pull(1);
    wires.pull(2);
    EXPECT_TRUE(team.await_item("runner.active_port", ""));
    EXPECT_EQ(0, team.teamdctl({"state", "view"}).status);
    wires.plug(2);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
}

TEST(ActiveBackup, follows_a_changed_prio) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    ASSERT_EQ(0, team.teamdctl({"port", "config", "update", "eth2", R"({"prio": 1000})"}).status);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
}

TEST(ActiveBackup, uses_the_port_set_by_teamdctl) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    team.set_item("runner.active_port", "eth2");
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    EXPECT_NE(0, team.teamdctl({"state", "item", "set", "runner.active_port", "eth7"}).status);
    EXPECT_EQ("eth2", active_port(team));
}

std::string with_policy(std::string_view policy) {
    return team_config(fmt::format(R"({{"name": "activebackup", "hwaddr_policy": "{}"}})", policy),
                       R"({"eth1": {"prio": 10}, "eth2": {}})");
}

/// The addresses of the two ports before the team starts.
struct Own {
    std::string eth1, eth2;
    explicit Own(const Cabling& wires)
        : eth1(look(wires.host(), "eth1").address), eth2(look(wires.host(), "eth2").address) {}
};

TEST(HwaddrPolicy, same_all_sets_and_restores_every_port) {
    const Cabling wires(2, FarSide::open);
    const Own own(wires);
    TeamUnderTest team(with_policy("same_all"));
    const auto teams = look(wires.host(), "team0").address;
    EXPECT_TRUE(becomes(teams, address_of(wires, "eth1")));
    EXPECT_TRUE(becomes(teams, address_of(wires, "eth2")));
    wires.pull(1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    EXPECT_EQ(teams, look(wires.host(), "team0").address);
    wires.host().ip("link set team0 address 02:00:00:00:07:07");
    EXPECT_TRUE(becomes("02:00:00:00:07:07", address_of(wires, "eth2"))) << "ports follow a new address";
    EXPECT_TRUE(becomes("02:00:00:00:07:07", address_of(wires, "eth1")));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(own.eth1, look(wires.host(), "eth1").address);
    EXPECT_EQ(own.eth2, look(wires.host(), "eth2").address);
}

TEST(HwaddrPolicy, by_active_sets_the_team) {
    const Cabling wires(2, FarSide::open);
    const Own own(wires);
    TeamUnderTest team(with_policy("by_active"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    EXPECT_TRUE(becomes(own.eth1, address_of(wires, "team0")));
    wires.pull(1);
    EXPECT_TRUE(becomes(own.eth2, address_of(wires, "team0")));
    EXPECT_EQ(own.eth1, look(wires.host(), "eth1").address);
    EXPECT_EQ(own.eth2, look(wires.host(), "eth2").address);
}

TEST(HwaddrPolicy, only_active_sets_the_active_port) {
    const Cabling wires(2, FarSide::open);
    const Own own(wires);
    TeamUnderTest team(with_policy("only_active"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    wires.host().ip("link set team0 address 02:00:00:00:07:07");
    EXPECT_TRUE(becomes("02:00:00:00:07:07", address_of(wires, "eth1")));
    EXPECT_EQ(own.eth2, look(wires.host(), "eth2").address);
    wires.pull(1);
    EXPECT_TRUE(becomes("02:00:00:00:07:07", address_of(wires, "eth2")));
    EXPECT_TRUE(becomes(own.eth1, address_of(wires, "eth1")));
    EXPECT_EQ("02:00:00:00:07:07", look(wires.host(), "team0").address);
}

TEST(StandbyPort, delivers_nothing_to_the_team_or_the_host) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    const PacketSocket on_team(wires.host(), "team0"), on_port(wires.host(), "eth2", ether_experiment);
    const PacketSocket standby(wires.peer(), "p2"), active(wires.peer(), "p1");
    const auto own = mac(look(wires.host(), "team0").address);
    for (const auto& to : {own, mac("ff:ff:ff:ff:ff:ff"), mac("33:33:00:00:00:01")})
        standby.send(ethernet(to, neighbour, ether_experiment, "by the wrong port"));
    standby.send(arp_request(neighbour, "10.0.0.9", team_v4));
    EXPECT_FALSE(on_team.await(is_experiment, 200ms));
    // With the drivers, sockets bound to the port receive what the team does not (RX_HANDLER_EXACT).
    EXPECT_EQ(by_driver(wires) || by_bonding(wires), on_port.receive(0ms).has_value());
    const auto answered = [](const Seen& seen) {
        return ethertype_of(seen.frame) == ether_arp && !seen.outgoing;
    };
    EXPECT_FALSE(standby.await(answered, 100ms));
    EXPECT_FALSE(active.await(answered, 0ms));
    active.send(ethernet(own, neighbour, ether_experiment, "by the right one"));
    EXPECT_TRUE(on_team.await(is_experiment));
}

TEST(StandbyPort, delivers_link_local_frames_to_its_sockets) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    const PacketSocket on_port(wires.host(), "eth2", ether_lldp), on_team(wires.host(), "team0", ether_lldp);
    const PacketSocket standby(wires.peer(), "p2");
    standby.send(ethernet(mac("01:80:c2:00:00:0e"), neighbour, ether_lldp, "who is there"));
    EXPECT_TRUE(on_port.receive(long_enough));
    EXPECT_FALSE(on_team.receive(50ms).has_value());
}

TEST(StandbyPort, sends_nothing) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const auto before = counters(wires.host(), "eth2").tx_packets;
    ASSERT_TRUE(carries_tcp(wires.host(), wires.client(), client_v4, 1'000'000));
    EXPECT_EQ(before, counters(wires.host(), "eth2").tx_packets);
}

TEST(StandbyPort, drops_copies_of_flooded_frames) {
    const Cabling wires(3, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(3));
    bring_up(wires, team);
    Stream stream({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 5'000});
    wires.peer().ip("link set br0 type bridge ageing_time 0"); // learns nothing and floods everything
    EXPECT_TRUE(stream.flows(1'000));
    stream.stop();
    EXPECT_EQ(0U, stream.tally().duplicated + stream.tally().lost) << text_of(stream.tally());
}

} // namespace
} // namespace teamo::test
