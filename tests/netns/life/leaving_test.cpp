// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When the team stops, the ports get their former settings back, and filters of other programs stay.
//
// lab: Restore.after_a_* Restore.after_port_* by team, 20 s
// lab: Restore.after_each_* by team, 20 s, long
// lab: Restore.after_* ForeignPrograms.* by bpf, 60 s, long
#include "netns/configs.h"
#include "netns/traffic/foreign_programs.h"
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

TEST(ForeignPrograms, keeps_tc_filters) {
    const Cabling wires(2, FarSide::lag_switch);
    must(wires.host(), "tc qdisc add dev eth1 clsact;"
                       "tc filter add dev eth1 ingress prio 40 protocol ip u32 match u32 0 0 classid 1:1;"
                       "tc filter add dev eth1 egress prio 40 protocol ip u32 match u32 0 0 classid 1:1");
    const auto filters = "tc filter show dev eth1 ingress prio 40; tc filter show dev eth1 egress prio 40";
    const auto before = must(wires.host(), filters);
    const auto whole = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ("", difference(whole, snapshot(wires.host(), "eth1")));
}

TEST(ForeignPrograms, keeps_an_empty_clsact) {
    const Cabling wires(2, FarSide::open);
    must(wires.host(), "tc qdisc add dev eth1 clsact");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(must(wires.host(), "tc qdisc show dev eth1"), HasSubstr("clsact"));
    EXPECT_EQ("", must(wires.host(), "tc filter show dev eth1 ingress"));
}

TEST(ForeignPrograms, that_remove_clsact_lose_no_port) {
    const Cabling wires(2, FarSide::lag_switch);
    const auto whole = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto filters = [&](const char* port) {
        return sh(wires.host(),
                  fmt::format("tc filter show dev {0} ingress; tc filter show dev {0} egress", port))
            .out;
    };
    ASSERT_NE("", filters("eth1"));
    must(wires.host(), "tc qdisc del dev eth1 clsact; tc qdisc del dev eth2 clsact");
    EXPECT_TRUE(eventually("the filters are there again",
                           [&] { return !filters("eth1").empty() && !filters("eth2").empty(); }));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    must(wires.host(), "tc qdisc del dev eth1 clsact");
    EXPECT_EQ(0, team.teamoctl({"port", "remove", "eth1"}).status);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_EQ("", difference(whole, snapshot(wires.host(), "eth1")));
    EXPECT_EQ(0, team.stop());
}

/// The daemon looks for its filters every second. The kernel would tell `tc monitor` if it asked for clsact.
TEST(ForeignPrograms, that_listen_to_tc_hear_nothing_of_a_team_at_rest) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    auto monitor = Process::start({.argv = {"tc", "monitor"}, .in = &wires.host()});
    EXPECT_TRUE(eventually("tc monitor listens", [&] {
        must(wires.host(), "tc qdisc add dev lo clsact; tc qdisc del dev lo clsact");
        return monitor.out().find("dev lo") != std::string::npos;
    }));
    std::this_thread::sleep_for(1100ms);
    EXPECT_THAT(monitor.out(), Not(HasSubstr("eth1")));
    EXPECT_EQ(0, team.stop());
}

TEST(ForeignPrograms, keeps_filters_added_later) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    must(wires.host(), "tc filter add dev eth1 ingress prio 7 protocol ip u32 match u32 0 0 classid 1:7");
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(must(wires.host(), "tc filter show dev eth1 ingress"), HasSubstr("pref 7 u32"));
}

TEST(ForeignPrograms, keeps_an_xdp_program) {
    const Cabling wires(1, FarSide::lag_switch);
    wires.peer().ip("link set p1 mtu 1500"); // veth accepts XDP only if a packet fits a page
    const ForeignXdp on_port(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const auto before = on_port.seen();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    EXPECT_GE(on_port.seen(), before + 2) << "a reply and a request";
    EXPECT_TRUE(on_port.attached());
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(on_port.attached());
}

TEST(ForeignPrograms, keeps_bpf_filters_and_their_packets) {
    const Cabling wires(1, FarSide::lag_switch);
    const PinnedFilter in("foreign_in"), out("foreign_out");
    must(wires.host(), fmt::format("tc qdisc add dev eth1 clsact;"
                                   "tc filter add dev eth1 ingress prio 3 handle 9 bpf da object-pinned {};"
                                   "tc filter add dev eth1 egress prio 3 handle 9 bpf da object-pinned {}",
                                   in.path(), out.path()));
    const auto filters = "tc filter show dev eth1 ingress prio 3; tc filter show dev eth1 egress prio 3";
    const auto before = must(wires.host(), filters);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.client(), team_v4)) << "our filter runs after one that continues";
    const auto seen_in = in.seen(), seen_out = out.seen();
    Stream stream({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 1'000});
    Stream back({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 1'000});
    EXPECT_TRUE(stream.flows(100) && back.flows(100));
    stream.stop();
    back.stop();
    EXPECT_GE(in.seen() - seen_in, stream.next());
    EXPECT_GE(out.seen() - seen_out, back.next());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(in.path() + "\n", must(wires.host(), "ls " + in.path()));
}

} // namespace
} // namespace teamo::test
