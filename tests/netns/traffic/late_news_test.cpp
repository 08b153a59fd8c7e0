// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports for which the kernel delays the event of a lost carrier, as it does for cards
// (support/net/cabling.h).
//
// lab: CarrierMonitor.* by none: link events are the same with every datapath
#include "netns/configs.h"
#include "netns/traffic/foreign_programs.h"
#include "support/daemon/usage.h"

#include <gmock/gmock.h>

#include <thread>

namespace teamo::test {
namespace {

/// How often the link watch saw the link go down.
int losses(const TeamUnderTest& team) {
    return std::stoi(team.item("ports.eth1.link_watches.list.link_watch_0.down_count"));
}

/// A flap that is shorter than the kernel's delay of one second: the kernel reports nothing.
void expect_flap_seen(const Cabling& wires, const TeamUnderTest& team, milliseconds length) {
    ASSERT_TRUE(team.await_link("eth1"));
    const int seen = losses(team);
    wires.pull(1);
    std::this_thread::sleep_for(length);
    wires.plug(1);
    EXPECT_TRUE(becomes(seen + 1, [&] { return losses(team); })) << length.count() << " ms";
    EXPECT_TRUE(team.await_link("eth1")) << length.count() << " ms";
}

TEST(CarrierMonitor, sees_every_flap) {
    const Cabling wires(2, FarSide::open, LinkEvents::delayed);
    const TeamUnderTest team(team_config(activebackup, ports_object(2)));
    const int before = losses(team);
    const auto lengths = {0ms, 1ms, 3ms, 8ms, 10ms, 12ms, 30ms, 100ms, 0ms, 0ms};
    for (const auto length : lengths)
        expect_flap_seen(wires, team, length);
    EXPECT_TRUE(
        stays("up, when the kernel's delayed events come", [&] { return team.link_is_up("eth1"); }, 1500ms));
    EXPECT_EQ(before + static_cast<int>(lengths.size()), losses(team));
    wires.pull(1);
    wires.plug(1);
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    EXPECT_TRUE(stays("down", [&] { return !team.link_is_up("eth1"); }, 1500ms));
}

TEST(CarrierMonitor, covers_added_and_adopted_ports) {
    const Cabling wires(2, FarSide::open, LinkEvents::delayed);
    TeamUnderTest team(loadbalance(2), {"-n"});
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    expect_flap_seen(wires, team, 0ms);
    team.kill();
    team.start();
    expect_flap_seen(wires, team, 0ms);
}

/// Whether the daemon was not woken for half a second; it reads the team's device once a second in any case.
bool asleep(const TeamUnderTest& team) {
    const auto before = sleeps(team.pid());
    std::this_thread::sleep_for(500ms);
    return sleeps(team.pid()) == before;
}

/// Woken much more often than once a second, even on a busy machine.
testing::AssertionResult stays_awake(const TeamUnderTest& team) {
    const auto before = sleeps(team.pid());
    return eventually("100 wakings", [&] { return sleeps(team.pid()) >= before + 100; }, 5s);
}

TEST(CarrierMonitor, sleeps_if_events_are_not_delayed) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    ASSERT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(eventually("asleep", [&] { return asleep(team); }));
}

TEST(CarrierMonitor, wakes_a_team_at_rest_once_a_second) {
    const Cabling wires(2, FarSide::open, LinkEvents::delayed);
    const TeamUnderTest team(loadbalance(2));
    ASSERT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(eventually("ten wakings in five seconds at most", [&] {
        const auto before = sleeps(team.pid());
        std::this_thread::sleep_for(5s);
        return sleeps(team.pid()) <= before + 10;
    }));
}

TEST(CarrierMonitor, polls_only_ports_with_a_carrier) {
    const Cabling wires(2, FarSide::open, LinkEvents::delayed);
    const TeamUnderTest team(team_config(activebackup, ports_object(2)), {"-g"});
    ASSERT_TRUE(team.await_link("eth1"));
    // If the kernel supports fentry programs, the daemon does not poll.
    const bool polls = team.log().find("lost carriers are polled") != std::string::npos;
    EXPECT_NE(kernel_takes_fentry_programs(), polls);
    if (polls)
        EXPECT_TRUE(stays_awake(team));
    else
        EXPECT_TRUE(eventually("asleep", [&] { return asleep(team); })) << "with programs";
    wires.pull(1);
    wires.pull(2);
    ASSERT_TRUE(team.await_link("eth1", false));
    EXPECT_TRUE(eventually("asleep", [&] { return asleep(team); }));
}

} // namespace
} // namespace teamo::test
