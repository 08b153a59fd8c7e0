// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The team's MAC address while it has no port. Bonding gives itself a random one when its last port leaves.
//
// lab: TeamAddress.* by bond on newest, 6 s
#include "netns/configs.h"

#include <fstream>

namespace teamo::test {
namespace {

constexpr std::string_view chosen = "02:00:00:00:00:77";

std::string team_address(const NetNs& in) { return look(in, "team0").address; }

TEST(TeamAddress, of_a_reload_stays_when_all_ports_change) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(team_config(by_flow, R"({"eth1": {}, "eth2": {}})"));
    ASSERT_TRUE(team.await_link("eth1"));
    std::ofstream(team.item("setup.config_file"))
        << team_config(by_flow, R"({"eth3": {}, "eth4": {}})", fmt::format(R"("hwaddr": "{}", )", chosen));
    ASSERT_EQ(0, team.teamoctl({"config", "reload"}).status);
    ASSERT_TRUE(team.await_link("eth3"));
    ASSERT_TRUE(team.await_link("eth4"));
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
    EXPECT_TRUE(eventually("the team has it", [&] { return team_address(wires.host()) == chosen; }));
    EXPECT_TRUE(
        eventually("the ports have it", [&] { return look(wires.host(), "eth3").address == chosen; }));
    EXPECT_EQ(0, team.stop());
}

TEST(TeamAddress, that_is_set_without_ports_stays) {
    const Cabling wires(2, FarSide::lag_switch);
    // Without "hwaddr" the first port would give the team its address.
    TeamUnderTest team(team_config(by_flow, ports_object(2), R"("hwaddr": "02:00:00:00:00:01", )"));
    ASSERT_TRUE(team.await_link("eth1"));
    const auto before = team_address(wires.host());
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_EQ(0, team.teamdctl({"port", "remove", port}).status);
    EXPECT_TRUE(
        eventually("the former address is back", [&] { return team_address(wires.host()) == before; }));
    wires.host().ip(fmt::format("link set team0 address {}", chosen));
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_EQ(0, team.teamdctl({"port", "add", port}).status);
    ASSERT_TRUE(team.await_link("eth1"));
    ASSERT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(chosen, team_address(wires.host()));
    EXPECT_TRUE(
        eventually("the ports have it", [&] { return look(wires.host(), "eth1").address == chosen; }));
    EXPECT_EQ(0, team.stop());
}

} // namespace
} // namespace teamo::test
