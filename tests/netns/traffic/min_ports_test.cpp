// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Teams that have fewer ports than they must have. LacpTeam.needs_min_ports_for_a_carrier is for lacp.
//
// lab: MinPorts.* by team, 20 s
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

TEST(MinPorts, withhold_the_carrier_of_every_runner) {
    if (starts_by_bonding()) GTEST_SKIP() << "bonding has min_links only for LACP";
    const Cabling wires(2, FarSide::learning_switch);
    const auto has_carrier = [&](bool wanted) {
        return eventually(wanted ? "carrier" : "no carrier",
                          [&] { return look(wires.host(), "team0").carrier() == wanted; });
    };
    for (const auto* name : {"roundrobin", "activebackup", "loadbalance"}) {
        SCOPED_TRACE(name);
        const auto config = [&](int least) {
            return team_config(fmt::format(R"({{"name": "{}", "min_ports": {}}})", name, least),
                               ports_object(2));
        };
        TeamUnderTest team(config(2));
        bring_up(wires, team);
        EXPECT_TRUE(has_carrier(true));
        wires.pull(1);
        EXPECT_TRUE(has_carrier(false));
        EXPECT_THAT(
            team.log(),
            HasSubstr("the team has no carrier: fewer ports can carry than runner.min_ports, which is 2"));
        EXPECT_THAT(team.teamoctl({"doctor"}).out, HasSubstr("runner.min_ports is 2"));
        EXPECT_EQ("true", team.item("ports.eth2.datapath.transmits"));
        const ConfigFile one(config(1)), two(config(2));
        EXPECT_EQ(0, team.teamoctl({"config", "reload", one.path()}).status);
        EXPECT_TRUE(has_carrier(true));
        EXPECT_EQ(0, team.teamoctl({"config", "reload", two.path()}).status);
        EXPECT_TRUE(has_carrier(false));
        team.kill();
        team.start();
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_FALSE(look(wires.host(), "team0").carrier());
        wires.plug(1);
        EXPECT_TRUE(has_carrier(true));
        EXPECT_TRUE(reaches(wires.host(), client_v4));
        EXPECT_THAT(team.log(), HasSubstr("the team has a carrier again"));
        EXPECT_EQ(0, team.stop());
    }
}

} // namespace
} // namespace teamo::test
