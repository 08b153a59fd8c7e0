// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A driver resets its card: the device goes down, and comes back with other queues, features, MTU and flags.
// tests/lab has it with real drivers (InterruptCpus).
//
// lab: DriverReset.* by team, 15 s, long
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/traffic/traffic.h"

#include <csignal>

namespace teamo::test {
namespace {

struct DriverReset : testing::Test {
    Cabling wires{2, FarSide::lag_switch};
    const std::string before = snapshot(wires.host(), "eth2");
    TeamUnderTest team{loadbalance(2)};

    DriverReset() { bring_up(wires, team); }

    /// As a driver does: the administrator's IFF_UP stays, so the device is up again at the end.
    void reset_eth2() const {
        wires.host().ip("link set eth2 down\nlink set eth2 allmulticast off");
        static_cast<void>(sh(wires.host(), "ip link set eth2 mtu 1300")); // the team driver refuses it
        static_cast<void>(sh(wires.host(), "ethtool -K eth2 tso off gso off sg off"));
        static_cast<void>(sh(wires.host(), "ethtool -L eth2 tx 1 rx 1"));
        wires.host().ip("link set eth2 up");
    }
    void expect_the_contract() const {
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "true"));
        EXPECT_TRUE(becomes("on", [&] { return tso_of(wires.host(), "eth2"); }));
        const auto mtu = look(wires.host(), "team0").mtu;
        EXPECT_EQ(1500U, mtu);
        EXPECT_TRUE(becomes(mtu, [&] { return look(wires.host(), "eth2").mtu; }));
        EXPECT_TRUE(eventually("it receives all multicast", [&] {
            return by_driver(wires) || by_bonding(wires) ||
                   look(wires.host(), "eth2").flags.contains("ALLMULTI");
        }));
        wires.pull(1);
        EXPECT_TRUE(team.await_link("eth1", false));
        EXPECT_TRUE(eventually("packets pass by eth2", [&] { return reaches(wires.host(), client_v4); }));
        wires.plug(1);
        EXPECT_TRUE(team.await_link("eth1"));
    }
};

TEST_F(DriverReset, gives_the_port_back_as_it_was) {
    reset_eth2();
    expect_the_contract();
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth2")));
}

TEST_F(DriverReset, while_the_daemon_is_frozen) {
    team.signal(SIGSTOP);
    reset_eth2();
    team.signal(SIGCONT);
    expect_the_contract();
}

TEST_F(DriverReset, while_no_daemon_runs) {
    team.kill();
    reset_eth2();
    team.start();
    expect_the_contract();
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth2")));
}

} // namespace
} // namespace teamo::test
