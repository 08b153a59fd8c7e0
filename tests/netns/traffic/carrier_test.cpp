// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ethtool link watch, and the team's own carrier.
//
// lab: LinkWatch.sees_* by none: link events are the same with every datapath
#include "netns/configs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/daemon/watched_calls.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

TEST(Carrier, follows_the_ports) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    wires.host().ip("link set team0 up");
    // The state is LOWERLAYERDOWN or DOWN, depending on the lower device; both mean down.
    const auto team_is = [&](bool carrier) {
        const auto device = look(wires.host(), "team0");
        return device.carrier() == carrier && (device.operstate == "UP") == carrier;
    };
    EXPECT_TRUE(eventually("up with both cables", [&] { return team_is(true); }));
    wires.pull(1);
    EXPECT_TRUE(team.await_item("ports.eth1.link.up", "false"));
    EXPECT_TRUE(stays("up with one cable", [&] { return team_is(true); }, 100ms));
    wires.pull(2);
    EXPECT_TRUE(eventually("down without cables", [&] { return team_is(false); }));
    wires.plug(1);
    EXPECT_TRUE(eventually("up again", [&] { return team_is(true); }));
}

TEST(Carrier, is_down_without_ports) {
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(loadbalance(1), {"-n"});
    wires.host().ip("link set team0 up");
    EXPECT_TRUE(stays("down", [&] { return look(wires.host(), "team0").operstate != "UP"; }, 100ms));
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), "team0").operstate; }));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth1"}).status);
    EXPECT_TRUE(becomes(false, [&] { return look(wires.host(), "team0").carrier(); }));
}

TEST(Carrier, is_down_without_cables) {
    const Cabling wires(2, FarSide::open);
    wires.pull(1);
    wires.pull(2);
    const TeamUnderTest team(loadbalance(2));
    wires.host().ip("link set team0 up");
    // The driver counts a port as up until linkwatch has set its operational state (netif_oper_up()).
    const auto down = [&] { return !look(wires.host(), "team0").carrier(); };
    EXPECT_TRUE(
        eventually("down, and stays so", [&] { return static_cast<bool>(stays("down", down, 100ms)); }));
    wires.plug(2);
    EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), "team0").operstate; }));
}

std::string with_delays(milliseconds up, milliseconds down) {
    const auto watch =
        fmt::format(R"("link_watch": {{"name": "ethtool", "delay_up": {}, "delay_down": {}}}, )", up.count(),
                    down.count());
    return team_config(by_flow, ports_object(2), watch);
}

/// A delay that is long compared with the time that a busy machine needs for a link event.
const milliseconds delay = patient(1'500ms);

/// The time from `start` until the link watch reports that state.
milliseconds until_watch_says(const TeamUnderTest& team, bool up, SteadyClock::time_point start) {
    EXPECT_TRUE(team.await_link("eth1", up));
    return since(start);
}

TEST(LinkWatch, reports_up_after_delay_up) {
    const Cabling wires(2, FarSide::open);
    wires.pull(1);
    const TeamUnderTest team(with_delays(delay, 0ms));
    ASSERT_TRUE(team.await_link("eth2"));
    ASSERT_FALSE(team.link_is_up("eth1"));
    const auto plugged = SteadyClock::now();
    wires.plug(1);
    EXPECT_GE(until_watch_says(team, true, plugged), delay) << "eth2 carries";
}

/// With a delay that is longer than a test waits.
TEST(LinkWatch, does_not_delay_the_only_link_or_a_lost_one) {
    const Cabling wires(2, FarSide::open);
    wires.pull(1);
    wires.pull(2);
    const TeamUnderTest team(with_delays(60s, 0ms));
    ASSERT_FALSE(team.link_is_up("eth1"));
    wires.plug(1);
    EXPECT_TRUE(team.await_link("eth1"));
    wires.plug(2);
    EXPECT_TRUE(team.await_item("ports.eth2.link.up", "true"));
    EXPECT_TRUE(stays("eth1 carries, so eth2 waits", [&] { return !team.link_is_up("eth2"); }, 300ms));
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false)) << "delay_up must not delay a lost link";
}

TEST(LinkWatch, reports_down_after_delay_down) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(with_delays(0ms, delay));
    ASSERT_TRUE(team.await_link("eth1"));
    const auto pulled = SteadyClock::now();
    wires.pull(1);
    EXPECT_TRUE(team.await_item("ports.eth1.link.up", "false"));
    EXPECT_GE(until_watch_says(team, false, pulled), delay);
    EXPECT_EQ("1", team.item("ports.eth1.link_watches.list.link_watch_0.down_count"));
}

TEST(LinkWatch, ignores_a_flap_within_the_delay) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(with_delays(0ms, delay));
    const auto count = [&] { return team.item("ports.eth1.link_watches.list.link_watch_0.down_count"); };
    std::string before;
    milliseconds took = delay;
    // On a busy machine a flap may be longer than the delay.
    for (int tries = 0; tries < 5 && took >= delay; ++tries) {
        ASSERT_TRUE(team.await_link("eth1"));
        before = count();
        const auto pulled = SteadyClock::now();
        wires.pull(1);
        ASSERT_TRUE(team.await_item("ports.eth1.link.up", "false"));
        wires.plug(1);
        ASSERT_TRUE(team.await_item("ports.eth1.link.up", "true"));
        took = since(pulled);
    }
    ASSERT_LT(took, delay);
    EXPECT_TRUE(stays("up", [&] { return team.link_is_up("eth1"); }, delay + 300ms));
    EXPECT_EQ(before, count());
}

TEST(LinkWatch, combines_team_and_port_watches) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(
        by_flow, R"({"eth1": {"link_watch": {"name": "ethtool", "delay_down": 60000}}, "eth2": {}})",
        R"("link_watch": {"name": "ethtool"}, )"));
    ASSERT_TRUE(team.await_link("eth1"));
    wires.pull(1);
    EXPECT_TRUE(team.await_item("ports.eth1.link_watches.list.link_watch_1.up", "false"));
    EXPECT_EQ("true", team.item("ports.eth1.link_watches.list.link_watch_0.up"))
        << "the watch of the port comes first";
    EXPECT_TRUE(team.link_is_up("eth1")) << "one watch that is up is enough";
}

/// A request between an event and its handling must not consume the event.
TEST(LinkWatch, sees_a_lost_link_under_requests) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    ASSERT_TRUE(team.await_link("eth1"));
    const std::jthread asking([](const std::stop_token& stop) {
        const auto client = ControlSocket::to("team0");
        while (!stop.stop_requested())
            EXPECT_TRUE(client->ask("StateDump"));
    });
    for (int round = 0; round < 60; ++round) {
        wires.pull(1);
        ASSERT_TRUE(team.await_link("eth1", false)) << "round " << round;
        wires.plug(1);
        ASSERT_TRUE(team.await_link("eth1")) << "round " << round;
    }
}

/// A device with many names, so that each message about it is long.
void make_noise0(const NetNs& host) {
    host.ip("link add dev noise0 type veth peer name noise1\nlink set noise0 up"); // the kernel sends no
                                                                                   // event while it is down
    std::string names;
    for (int count = 0; count < 64; ++count)
        names += fmt::format("link property add dev noise0 altname {:n>120}\n", count);
    host.ip(names);
}

/// More messages than the receive buffer holds while the daemon cannot read; after that the list of devices
/// changes during each of the daemon's dumps.
TEST(LinkWatch, sees_changes_after_lost_events) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2), TeamUnderTest::later);
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls));
    ASSERT_TRUE(team.await_link("eth1"));
    make_noise0(wires.host());
    std::string flood;
    for (int count = 0; count < 4'000; ++count)
        flood += fmt::format("link set noise0 alias n{}\n", count);
    team.signal(SIGSTOP);
    wires.host().ip(flood);
    wires.pull(1);
    wires.host().ip("link set noise0 alias last");
    calls.refuse_lists(8);
    team.signal(SIGCONT);
    EXPECT_TRUE(team.await_link("eth1", false));
    wires.plug(1);
    EXPECT_TRUE(team.await_link("eth1")) << "events are received again";
    EXPECT_THAT(team.log(), testing::HasSubstr("link events were lost")) << "the flood was too small";
}

} // namespace
} // namespace teamo::test
