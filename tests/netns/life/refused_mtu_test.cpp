// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An MTU that one of the ports refuses.
//
// lab: Mtu.restores_* by team, 5 s
#include "netns/configs.h"
#include "support/daemon/watched_calls.h"

namespace teamo::test {
namespace {

TEST(Mtu, restores_the_team_if_a_port_refuses) {
    constexpr unsigned former = 4000, most_of_a_tap = 65'521; // drivers/net/tun.c: MAX_MTU less its header
    const Cabling wires(1, FarSide::open);
    must(wires.host(), "ip tuntap add dev tap0 mode tap");
    const TeamUnderTest team(team_config(by_flow, R"({"eth1": {}, "tap0": {}})"));
    const auto mtu = [&](const char* device) {
        return [&, device] { return look(wires.host(), device).mtu; };
    };
    wires.host().ip(fmt::format("link set team0 mtu {}", former));
    for (const auto* device : {"eth1", "tap0"})
        ASSERT_TRUE(becomes(former, mtu(device))) << device;
    // The driver refuses at once; the device of the BPF datapath accepts it and is set back.
    static_cast<void>(sh(wires.host(), fmt::format("ip link set team0 mtu {}", most_of_a_tap + 1)));
    for (const auto* device : {"team0", "eth1", "tap0"})
        EXPECT_TRUE(becomes(former, mtu(device))) << device;
    wires.host().ip(fmt::format("link set team0 mtu {}", most_of_a_tap));
    for (const auto* device : {"eth1", "tap0"})
        EXPECT_TRUE(becomes(most_of_a_tap, mtu(device))) << device;
    EXPECT_EQ(most_of_a_tap, look(wires.host(), "team0").mtu);
}

/// Memory that the kernel was short of for a moment is no reason to undo what the administrator has set.
TEST(Mtu, is_set_again_on_a_port_after_a_passing_refusal) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2), TeamUnderTest::later);
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls) && team.await_link("eth1") && team.await_link("eth2"));
    if (by_driver(wires) || by_bonding(wires)) GTEST_SKIP() << "the driver sets the MTU of the ports";
    unsigned mtu = 1400, refused = 0;
    for (unsigned step = 1; step <= 2; ++step) { // one for each port
        calls.refuse(calls.count() + step, ENOMEM);
        wires.host().ip(fmt::format("link set team0 mtu {}", --mtu));
        for (const auto* device : {"eth1", "eth2"})
            EXPECT_TRUE(becomes(mtu, [&] { return look(wires.host(), device).mtu; })) << device;
        EXPECT_EQ(mtu, look(wires.host(), "team0").mtu);
        if (team.log().find(fmt::format("MTU {}", mtu)) != std::string::npos) ++refused;
    }
    EXPECT_GT(refused, 0U) << "no change of an MTU was refused";
    calls.refuse(0, 0);
    EXPECT_EQ(0, team.stop());
}

} // namespace
} // namespace teamo::test
