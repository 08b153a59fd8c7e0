// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port has no IP addresses while it belongs to a team, and gets its static ones back.
#include "netns/configs.h"
#include "support/net/links.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string static_addresses(const NetNs& in, std::string_view device) {
    return must(
        in, fmt::format("ip -6 -o addr show dev {} scope global permanent | sed 's/.*inet6 //;s/\\\\.*//'",
                        device));
}

void give_addresses(const Cabling& wires) {
    wires.host().ip("link set eth1 up\n"
                    "addr add fd00:1::6/128 dev eth1 nodad\naddr add fd00:1::5/64 dev eth1 nodad\n"
                    "addr add 10.7.0.5/24 dev eth1\n"
                    "addr add fd00:1::7/64 dev eth1 nodad valid_lft 600 preferred_lft 600");
}

TEST(PortAddresses, removes_all_and_restores_static_ones) {
    const Cabling wires(2, FarSide::open);
    give_addresses(wires);
    const auto before = static_addresses(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_EQ("", must(wires.host(), "ip -6 -o addr show dev eth1; ip -6 -o addr show dev eth2"));
    EXPECT_THAT(team.log(), HasSubstr("port eth1: has addresses of its own (10.7.0.5, "));
    EXPECT_THAT(team.log(), Not(HasSubstr("port eth2: has addresses")));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, static_addresses(wires.host(), "eth1"));
    EXPECT_THAT(before, HasSubstr("fd00:1::5/64"));
    EXPECT_THAT(must(wires.host(), "ip -6 route show dev eth1"), HasSubstr("fd00:1::/64"));
}

TEST(PortAddresses, restores_after_a_killed_first_start) {
    const Cabling wires(2, FarSide::open);
    give_addresses(wires);
    const auto before = static_addresses(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    team.kill();
    team.start();
    EXPECT_EQ("", must(wires.host(), "ip -6 -o addr show dev eth1"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, static_addresses(wires.host(), "eth1"));
}

/// As with `sysctl --system`, the kernel copies the value to all devices.
TEST(PortAddresses, come_back_for_no_write_of_sysctl) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto enabled = [&] {
        return must(wires.host(),
                    "cd /proc/sys/net/ipv6/conf; grep -lx 0 eth*/disable_ipv6 tmo*/disable_ipv6; :");
    };
    ASSERT_EQ("", enabled());
    must(wires.host(), "echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
    EXPECT_TRUE(becomes("", enabled));
    EXPECT_THAT(team.log(), HasSubstr("port eth2: IPv6 is on; switched off again"));
    // A port without a link causes no event, nor does the inner end, which is down while no port carries.
    wires.pull(2);
    EXPECT_TRUE(team.await_link("eth2", false));
    must(wires.host(), "echo 0 > /proc/sys/net/ipv6/conf/eth2/disable_ipv6");
    EXPECT_TRUE(becomes("", enabled));
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    must(wires.host(), "echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
    EXPECT_TRUE(becomes("", enabled));
}

TEST(PortAddresses, leaves_ipv6_disabled) {
    const Cabling wires(1, FarSide::open);
    must(wires.host(), "echo 1 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6");
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("1\n", must(wires.host(), "cat /proc/sys/net/ipv6/conf/eth1/disable_ipv6"));
}

} // namespace
} // namespace teamo::test
