// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The clock of the host jumps by hours: no timer of the daemon notices. Only in a guest, whose clock is its
// own.
//
// lab: ClockJump.* by bpf on 6.12, 15 s, long
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/traffic/traffic.h"

#include <ctime>

namespace teamo::test {
namespace {

void move_clock(std::chrono::hours by) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += std::chrono::seconds(by).count();
    if (::clock_settime(CLOCK_REALTIME, &now) < 0) throw SetupError("cannot set the clock");
}

struct ClockJump : testing::Test {
    void SetUp() override {
        if (!emulated()) GTEST_SKIP() << "sets the clock, which only a guest of the lab has for itself";
    }
    /// Forward, back, and to where it was.
    static void jump() {
        for (const auto by : {std::chrono::hours(5), std::chrono::hours(-10), std::chrono::hours(5)}) {
            move_clock(by);
            std::this_thread::sleep_for(300ms);
        }
    }
};

/// Timers of LACP that are over take a port out (3 s), and those that never end would keep it in.
TEST_F(ClockJump, lacp_does_not_notice) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner(wires, {1, 2});
    wires.host().ip("link set team0 up");
    const auto carries = [&] {
        for (const auto* port : {"eth1", "eth2"})
            if (team.item(fmt::format("ports.{}.runner.detail.mux_state", port)) != "distributing" ||
                team.item(fmt::format("ports.{}.runner.state", port)) != "current")
                return false;
        return true;
    };
    ASSERT_TRUE(eventually("both ports carry", carries, 20s));
    const auto lines = team.log().size();
    jump();
    EXPECT_TRUE(stays("both ports carry", carries, 4s));
    EXPECT_EQ("", team.log().substr(lines)) << "nothing happened";
    if (by_bonding(wires)) return; // a bond goes on without its daemon
    partner.team().kill();
    EXPECT_TRUE(eventually("after 3 s of silence no port carries", [&] { return !carries(); }));
}

/// Probes each 100 ms, and a link that must be up for a second before it counts.
TEST_F(ClockJump, link_watches_do_not_notice) {
    const Cabling wires(2, FarSide::learning_switch);
    wires.client().ip(fmt::format("addr replace {}/24 dev client0", client_v4));
    const auto ports = fmt::format(
        R"({{"eth1": {{"link_watch": {{"name": "ethtool", "delay_up": 1000}}}},
            "eth2": {{"link_watch": {{"name": "arp_ping", "interval": 100, "missed_max": 5, "send_always": true,
                                     "target_host": "{}"}}}}}})",
        client_v4);
    TeamUnderTest team(team_config(activebackup, ports));
    wires.address();
    ASSERT_TRUE(team.await_link("eth1") && team.await_link("eth2"));
    const auto lines = team.log().size();
    jump();
    EXPECT_TRUE(
        stays("both links are up", [&] { return team.link_is_up("eth1") && team.link_is_up("eth2"); }, 1s));
    EXPECT_EQ("", team.log().substr(lines)) << "nothing happened";
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    const auto plugged = SteadyClock::now();
    wires.plug(1);
    move_clock(std::chrono::hours(-3));
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_GE(since(plugged), 900ms) << "delay_up";
    move_clock(std::chrono::hours(3));
}

} // namespace
} // namespace teamo::test
