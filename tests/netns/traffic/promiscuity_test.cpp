// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port is promiscuous while a device above the team has an address of its own, and no longer.
#include "netns/configs.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

testing::AssertionResult ports_become_promiscuous(const Cabling& wires, bool promiscuous) {
    // With the driver the ports are promiscuous without the flag IFF_PROMISC, which is for the administrator.
    const auto is = [&wires](const char* port) { return look(wires.host(), port).promiscuity > 0; };
    return eventually(promiscuous ? "both are promiscuous" : "none is promiscuous",
                      [&] { return is("eth1") == promiscuous && is("eth2") == promiscuous; });
}

TEST(Promiscuity, with_a_macvlan) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_TRUE(ports_become_promiscuous(wires, false));
    wires.host().ip("link add link team0 name guest0 type macvlan mode bridge\nlink set guest0 up");
    EXPECT_TRUE(ports_become_promiscuous(wires, true));
    wires.host().ip("link del guest0");
    EXPECT_TRUE(ports_become_promiscuous(wires, false));
}

TEST(Promiscuity, with_a_macvlan_in_another_namespace) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto guest = NetNs::create();
    wires.host().ip("link add link team0 name guest0 type macvlan mode bridge\n"
                    "link set guest0 netns " +
                    guest.path());
    // By now the daemon has seen the device leave; it gets no more events about it.
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    guest.ip("link set guest0 up");
    EXPECT_TRUE(ports_become_promiscuous(wires, true));
    guest.ip("link del guest0");
    EXPECT_TRUE(ports_become_promiscuous(wires, false));
}

TEST(Promiscuity, with_a_bridge) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.host().ip("link add br9 type bridge\nlink set team0 master br9\nlink set br9 up");
    EXPECT_TRUE(ports_become_promiscuous(wires, true));
    wires.host().ip("link del br9");
    EXPECT_TRUE(ports_become_promiscuous(wires, false));
}

} // namespace
} // namespace teamo::test
