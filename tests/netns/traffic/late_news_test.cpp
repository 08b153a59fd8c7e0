// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports of whose lost carrier the kernel tells late, as it does of a card's (support/cabling.h: News).
//
// lab: LateNews.* by none: a link's news are the same by every datapath
#include "netns/configs.h"
#include "netns/traffic/foreign_programs.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

namespace teamo::test {
namespace {

/// How often the watch saw the link go.
int losses(const TeamUnderTest& team) {
    return std::stoi(team.item("ports.eth1.link_watches.list.link_watch_0.down_count"));
}

/// A loss that is over before the kernel's second is: of one that short it never tells.
void expect_flap_seen(const Cabling& wires, const TeamUnderTest& team, milliseconds length) {
    ASSERT_TRUE(team.await_link("eth1"));
    const int seen = losses(team);
    wires.pull(1);
    std::this_thread::sleep_for(length);
    wires.plug(1);
    EXPECT_TRUE(becomes(seen + 1, [&] { return losses(team); })) << length.count() << " ms";
    EXPECT_TRUE(team.await_link("eth1")) << length.count() << " ms";
}

TEST(LateNews, hide_no_flap_and_not_its_end) {
    const Cabling wires(2, FarSide::open, News::gathered);
    const TeamUnderTest team(loadbalance(2));
    const int before = losses(team);
    const auto lengths = {0ms, 1ms, 3ms, 8ms, 10ms, 12ms, 30ms, 100ms, 0ms, 0ms};
    for (const auto length : lengths)
        expect_flap_seen(wires, team, length);
    EXPECT_TRUE(stays(
        "up, when the kernel's own news come", [&] { return team.link_is_up("eth1"); }, 1500ms));
    EXPECT_EQ(before + static_cast<int>(lengths.size()), losses(team));
    wires.pull(1);
    wires.plug(1);
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    EXPECT_TRUE(stays(
        "down", [&] { return !team.link_is_up("eth1"); }, 1500ms));
}

TEST(LateNews, come_early_after_a_port_was_added_and_after_an_adoption) {
    const Cabling wires(2, FarSide::open, News::gathered);
    TeamUnderTest team(loadbalance(2), {"-n"});
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    expect_flap_seen(wires, team, 0ms);
    team.kill();
    team.start();
    expect_flap_seen(wires, team, 0ms);
}

/// How often the daemon went to sleep. Once a second it looks at the team's own device, whatever happens.
long sleeps(const TeamUnderTest& team) {
    constexpr std::string_view name = "voluntary_ctxt_switches:";
    std::ifstream status(fmt::format("/proc/{}/status", team.pid()));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stol(line.substr(name.size()));
    throw SetupError("no process");
}

/// Not woken for half a second.
bool asleep(const TeamUnderTest& team) {
    const auto before = sleeps(team);
    std::this_thread::sleep_for(500ms);
    return sleeps(team) == before;
}

/// Woken more often than a look a second takes, even on a machine that lets it run now and then only.
testing::AssertionResult stays_awake(const TeamUnderTest& team) {
    const auto before = sleeps(team);
    return eventually(
        "100 wakings", [&] { return sleeps(team) >= before + 100; }, 5s);
}

TEST(LateNews, of_no_port_leave_the_daemon_asleep) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    ASSERT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(eventually("asleep", [&] { return asleep(team); }));
}

TEST(LateNews, keep_the_daemon_awake_only_while_there_is_a_carrier_to_lose) {
    const Cabling wires(2, FarSide::open, News::gathered);
    const TeamUnderTest team(loadbalance(2), {"-g"});
    ASSERT_TRUE(team.await_link("eth1"));
    // A kernel that lets itself be traced is never asked.
    const bool asked = team.log().find("lost carriers are polled") != std::string::npos;
    EXPECT_NE(kernel_takes_fentry_programs(), asked);
    if (asked)
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
