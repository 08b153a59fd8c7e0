// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which datapath the daemon uses, with and without --datapath.
//
// lab: DatapathChoice.auto_* DatapathChoice.configuration_* DatapathChoice.bpf_refuses_* by team, 8 s
#include "netns/configs.h"
#include "netns/team_driver.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// Checks the device's kind in ip(8) and the datapath that the daemon reports.
void expect_carried_by(const std::string& datapath, const Cabling& wires, const TeamUnderTest& team) {
    const auto kind = look(wires.host(), "team0").kind;
    if (datapath != "bpf")
        EXPECT_EQ(datapath, kind);
    else
        EXPECT_THAT(kind, AnyOf("netkit", "veth"));
    EXPECT_EQ(datapath, team.item("datapath.name"));
}

class DatapathChoice : public testing::Test {
protected:
    const NoOptionsForAll options_;
    const Cabling wires_{2, FarSide::lag_switch};
};

/// Bonding comes first if it has a mode that does all that is configured.
TEST_F(DatapathChoice, auto_prefers_the_driver_that_does_it_by_itself) {
    struct Case {
        std::string_view runner;
        const char *first, *second;
        std::string more{};
        std::vector<std::string> options{};
        std::string ports = ports_object(2);
    };
    const std::vector<Case> cases{
        {by_flow, "bond", "team"},
        {activebackup, "bond", "team"},
        {by_flow, "bond", "team", R"("datapath": "auto", )"},
        {by_flow, "bond", "team", R"("datapath": "bpf", )", {"--datapath", "auto"}},
        {R"({"name": "roundrobin"})", "team", "bond"},
        {R"({"name": "slb"})", "bpf", "bpf"},
        {R"({"name": "lacp"})", "team", "bond", "", {}, R"({"eth1": {"lacp_key": 7}, "eth2": {}})"}};
    for (const auto& [runner, first, second, more, options, ports] : cases) {
        const std::string expected = kernel_has_driver(first)    ? first
                                     : kernel_has_driver(second) ? second
                                                                 : "bpf";
        fmt::print("expected here: {}\n", expected);
        TeamUnderTest team(team_config(runner, ports, more), options);
        expect_carried_by(expected, wires_, team);
        EXPECT_EQ(0, team.stop());
    }
}

TEST_F(DatapathChoice, auto_keeps_that_of_a_running_team) {
    TeamUnderTest team(loadbalance(2), {"--datapath", "bpf"});
    const auto index = look(wires_.host(), "team0").index;
    team.kill();
    team.start({"--datapath", "auto"});
    EXPECT_EQ(index, look(wires_.host(), "team0").index);
    expect_carried_by("bpf", wires_, team);
    EXPECT_EQ(0, team.stop());
}

TEST_F(DatapathChoice, option_overrides_the_configuration) {
    TeamUnderTest team(team_config(by_flow, ports_object(2), R"("datapath": "team", )"),
                       {"--datapath", "bpf"});
    expect_carried_by("bpf", wires_, team);
    EXPECT_EQ(0, team.stop());
}

TEST_F(DatapathChoice, configuration_overrides_auto) {
    TeamUnderTest team(team_config(by_flow, ports_object(2), R"("datapath": "bpf", )"));
    expect_carried_by("bpf", wires_, team);
    EXPECT_EQ(0, team.stop());
}

/// As NetworkManager makes it before it starts the daemon with these options.
TEST_F(DatapathChoice, bpf_refuses_a_device_of_the_team_driver) {
    if (!kernel_has_driver("team")) GTEST_SKIP() << "this kernel has no team driver";
    must(wires_.host(), "ip link add team0 type team");
    const auto refused = run({.argv = {daemon_program(), "-o", "-n", "-N", "-t", "team0", "-c",
                                       R"({"datapath": "bpf", "runner": {"name": "loadbalance"}})"}});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err,
                HasSubstr("of the kernel's team driver, as NetworkManager makes it, which the BPF "
                          "datapath cannot use; set \"datapath\" to \"auto\", or use the unit "
                          "teamd-offload@team0 without a team connection"));
    EXPECT_EQ("team", look(wires_.host(), "team0").kind);
}

} // namespace
} // namespace teamo::test
