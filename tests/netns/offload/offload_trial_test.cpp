// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Switches TSO on and off for a while, as doctor does: it must be restored in every case.
//
// lab: OffloadTrial.* by none: it is the same with every datapath
#include "netns/configs.h"
#include "netns/life/operators.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string tried(const std::string& port, const std::string& state) {
    return ControlSocket::to("team0")->ask("OffloadTry", {port, state}).value_or("nothing");
}

TEST(OffloadTrial, switches_and_restores) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(2), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    for (const std::string before : {"on", "off"}) {
        must(wires.host(), "ethtool -K eth1 tx-tcp-segmentation " + before);
        const auto snapshot_before = must(wires.host(), "ethtool -k eth1");
        for (const auto* state : {"off", "on", "off", "on"}) {
            EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", state));
            EXPECT_EQ(state, tso_of(wires.host(), "eth1"));
        }
        EXPECT_THAT(tried("eth2", "off"), HasSubstr("eth1 is being measured"));
        EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", "end"));
        EXPECT_EQ("", difference(snapshot_before, must(wires.host(), "ethtool -k eth1")));
    }
    EXPECT_THAT(tried("eth1", "perhaps"), StartsWith("REPLY_ERROR\nInvalidArgs\n"));
    EXPECT_THAT(tried("eth9", "on"), StartsWith("REPLY_ERROR\nNoSuchDev\n"));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "end")) << "ending a trial twice is no error";
}

TEST(OffloadTrial, is_not_repaired) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto before = must(wires.host(), "ethtool -k eth1");
    for (const auto* state : {"off", "on", "off", "end"}) {
        EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", state));
        EXPECT_EQ("0", team.item("offload.ports.eth1.repaired"));
    }
    EXPECT_EQ("", difference(before, must(wires.host(), "ethtool -k eth1")));
    // The daemon sees this change after the trial's own events.
    must(wires.host(), "ethtool -K eth2 tso off");
    EXPECT_TRUE(team.await_item("offload.ports.eth2.repaired", "1"));
    EXPECT_EQ("0", team.item("offload.ports.eth1.repaired"));
    EXPECT_THAT(team.log(), testing::Not(HasSubstr("port eth1: tx-tcp")));
}

TEST(OffloadTrial, ends_when_the_port_leaves) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    ASSERT_EQ(0, ask(team, "port remove eth1").status);
    EXPECT_EQ("on", tso_of(wires.host(), "eth1"));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "off"));
}

TEST(OffloadTrial, ends_when_the_device_vanishes) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    wires.host().ip("link del eth1");
    ASSERT_TRUE(team.await_item("ports.eth1.link.up", ""));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "off"));
}

TEST(OffloadTrial, ends_with_the_daemon) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2), {"-N"});
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("on", tso_of(wires.host(), "eth1"));
    EXPECT_EQ(2, std::stoi(must(wires.host(), R"(grep -ro '"trial": {}' /run/teamd-offload | wc -l)")));
}

TEST(OffloadTrial, lasts_while_the_client_renews_it) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto start = SteadyClock::now();
    while (since(start) < 7s) {
        ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
        ASSERT_TRUE(stays("TSO is off", [&] { return tso_of(wires.host(), "eth1") == "off"; }, 1s));
    }
}

TEST(OffloadTrial, ends_after_a_killed_client) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    {
        auto doctor = Process::start({.argv = {teamoctl_program(), "team0", "doctor", "--measure", "eth1"}});
        ASSERT_TRUE(becomes("off", [&] { return tso_of(wires.host(), "eth1"); }));
        doctor.signal(SIGKILL);
    }
    EXPECT_EQ("off", tso_of(wires.host(), "eth1"));
    EXPECT_TRUE(becomes(std::string("on"), [&] { return tso_of(wires.host(), "eth1"); }, 8s));
    EXPECT_THAT(team.log(), HasSubstr("no request from doctor"));
}

TEST(OffloadTrial, next_daemon_ends_it_after_a_kill) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    team.kill();
    EXPECT_EQ("off", tso_of(wires.host(), "eth1"));
    team.start();
    EXPECT_EQ("on", tso_of(wires.host(), "eth1"));
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("on", tso_of(wires.host(), "eth1"));
}

} // namespace
} // namespace teamo::test
