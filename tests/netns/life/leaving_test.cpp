// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When the team stops, the ports get their former settings back.
//
// lab: Restore.after_a_* Restore.after_port_* by team, 20 s
// lab: Restore.after_each_* by team, 20 s, long
// lab: Restore.after_* by bpf, 30 s, long
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// Configures two ports as an administrator might have done.
void furnish(const Cabling& wires) {
    wires.host().ip("link set eth1 mtu 1400 address 02:00:00:00:01:01 alias uplink\n"
                    "link property add dev eth1 altname lan-a\n"
                    "link set eth2 up\n"
                    "link set eth2 promisc on\n"
                    "link set eth2 allmulticast on");
    must(wires.host(), "echo 1 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6;"
                       "echo 1 > /proc/sys/net/ipv6/conf/eth2/addr_gen_mode");
}

/// Everything that a team could leave behind: devices, files under /run, pinned programs.
std::string traces(const Cabling& wires) {
    return must(wires.host(),
                "ip -br link | cut -d' ' -f1; find /run/teamd /run/teamd-offload /sys/fs/bpf ! -type d;"
                "cat /proc/net/packet | wc -l");
}

struct Before {
    explicit Before(const Cabling& wires)
        : eth1(snapshot(wires.host(), "eth1")), eth2(snapshot(wires.host(), "eth2")), all(traces(wires)) {}
    std::string eth1, eth2, all;
};

void expect_as(const Before& before, const Cabling& wires) {
    EXPECT_EQ("", difference(before.eth1, snapshot(wires.host(), "eth1")));
    EXPECT_TRUE(becomes("", [&] { return difference(before.eth2, snapshot(wires.host(), "eth2")); }))
        << "the port that was up before";
    EXPECT_EQ("", difference(before.all, traces(wires)));
}

void settle(const Cabling& wires) {
    if (!eventually("", [&] { return look(wires.host(), "eth2").operstate == "UP"; }))
        throw SetupError("eth2 does not come up");
}

class Restore : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Signal, Restore, testing::Values(SIGTERM, SIGINT, SIGQUIT),
                         testing::PrintToStringParamName());

TEST_P(Restore, on_signal) {
    const Cabling wires(2, FarSide::open);
    furnish(wires);
    settle(wires);
    const Before before(wires);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link set team0 mtu 4000 address 02:00:00:00:07:07");
    ASSERT_TRUE(becomes("02:00:00:00:07:07", [&] { return look(wires.host(), "eth1").address; }));
    EXPECT_EQ(0, team.stop(GetParam()));
    expect_as(before, wires);
}

TEST(Restore, after_a_killed_first_start) {
    const Cabling wires(2, FarSide::open);
    furnish(wires);
    settle(wires);
    const Before before(wires);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link set team0 mtu 4000");
    ASSERT_TRUE(becomes(4000U, [&] { return look(wires.host(), "eth1").mtu; }));
    for (int times = 0; times < 2; ++times) {
        team.kill();
        team.start();
    }
    EXPECT_EQ(0, team.stop());
    expect_as(before, wires);
}

TEST(Restore, after_port_remove) {
    const Cabling wires(2, FarSide::open);
    furnish(wires);
    settle(wires);
    const Before before(wires);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth1"}).status);
    EXPECT_TRUE(becomes("", [&] { return difference(before.eth1, snapshot(wires.host(), "eth1")); }));
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
    EXPECT_EQ("true", team.item("ports.eth2.link.up"));
    EXPECT_EQ(0, team.stop());
    expect_as(before, wires);
}

TEST(Restore, leaves_a_port_down_whose_address_the_team_keeps) {
    const Cabling wires(2, FarSide::open);
    wires.host().ip("link set eth1 up\nlink set eth2 up");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto address = look(wires.host(), "team0").address;
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth1"}).status);
    EXPECT_TRUE(becomes("", [&] { return team.item("ports.eth1.link.up"); }));
    EXPECT_EQ(address, look(wires.host(), "eth1").address);
    EXPECT_EQ(address, look(wires.host(), "team0").address);
    EXPECT_FALSE(look(wires.host(), "eth1").up());
    EXPECT_THAT(team.log(), HasSubstr("port eth1: stays down, because team0 still uses the MAC address"));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth2"}).status);
    EXPECT_TRUE(becomes("", [&] { return team.item("ports.eth2.link.up"); }));
    EXPECT_TRUE(look(wires.host(), "eth2").up());
}

TEST(Restore, after_each_hwaddr_policy) {
    for (const auto* policy : {"same_all", "by_active", "only_active"}) {
        const Cabling wires(2, FarSide::open);
        furnish(wires);
        settle(wires);
        const Before before(wires);
        TeamUnderTest team(team_config(
            fmt::format(R"({{"name": "activebackup", "hwaddr_policy": "{}"}})", policy), ports_object(2)));
        bring_up(wires, team);
        wires.pull(1);
        ASSERT_TRUE(team.await_item("runner.active_port", "eth2"));
        wires.plug(1);
        EXPECT_EQ(0, team.stop()) << policy;
        expect_as(before, wires);
        wires.host().ip("link del eth1\nlink del eth2");
    }
}

TEST(Restore, after_a_port_vanished) {
    const Cabling wires(2, FarSide::open);
    furnish(wires);
    const auto before = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link del eth2");
    EXPECT_TRUE(team.await_item("ports.eth2.link.up", ""));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth1")));
}

TEST(Restore, not_with_no_quit_destroy) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2), {"-N"});
    bring_up(wires, team);
    const auto before = snapshot(wires.host(), "team0") + snapshot(wires.host(), "eth1");
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "team0") + snapshot(wires.host(), "eth1")));
}

} // namespace
} // namespace teamo::test
