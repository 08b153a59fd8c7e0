// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports of different weights.
//
// lab: Weight.* by team, 10 s
// lab: Weight.* by bond on newest, 10 s, long
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Weight, shares_the_buckets_and_moves_only_what_must_move) {
    const Cabling wires(3, FarSide::lag_switch);
    TeamUnderTest team(team_config(by_flow, R"({"eth1": {"weight": 2}, "eth2": {}, "eth3": {}})"));
    bring_up(wires, team);
    const auto buckets = [&](const char* port, const char* number) {
        return team.await_item(fmt::format("ports.{}.datapath.buckets", port), number);
    };
    EXPECT_TRUE(buckets("eth1", "128"));
    EXPECT_TRUE(buckets("eth2", "64"));
    EXPECT_EQ("2", team.item("ports.eth1.weight"));
    EXPECT_THAT(team.teamoctl({"state"}).out, HasSubstr("weight: 2"));
    EXPECT_EQ(0, team.teamdctl({"port", "config", "update", "eth1", R"({"weight": 6})"}).status);
    EXPECT_TRUE(buckets("eth1", "192"));
    EXPECT_TRUE(buckets("eth3", "32"));
    EXPECT_EQ(0, team.teamdctl({"port", "config", "update", "eth1", "{}"}).status);
    EXPECT_TRUE(buckets("eth3", "85"));
    team.kill();
    team.start();
    EXPECT_TRUE(team.await_link("eth3"));
    EXPECT_TRUE(buckets("eth1", "128")) << "the file has the weight";
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Weight, is_in_the_plan_of_a_dry_run) {
    const Cabling wires(2, FarSide::open);
    const auto planned =
        daemon_on(team_config(by_flow, R"({"eth1": {"weight": 3}, "eth2": {}})"), {"--dry-run"});
    EXPECT_THAT(planned.out, HasSubstr(R"("buckets": 192)")) << planned.err;
}

TEST(Weight, is_named_where_it_has_no_effect) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(team_config(activebackup, R"({"eth1": {"weight": 2}, "eth2": {}})"));
    bring_up(wires, team);
    EXPECT_THAT(team.log(), HasSubstr("/ports/eth1/weight: has no effect with the runner activebackup"));
    EXPECT_THAT(team.log(), Not(HasSubstr("/ports/eth2/weight")));
}

} // namespace
} // namespace teamo::test
