// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Traffic continues without a daemon, and a new daemon adopts the team of a dead one.
//
// lab: */Adoption.*/no_option by team, 20 s
// lab: Adoption.takes_over_* by team, 5 s
// lab: Adoption.takes_over_* by none: with bonding it would be the same
// lab: */Adoption.*/option_o by team, 20 s, long
// lab: */Adoption.* by bond, 40 s, long
// lab: */Adoption.* Adoption.* by bpf, 60 s, long
#include "netns/configs.h"
#include "netns/link_monitor.h"
#include "netns/team_driver.h"
#include "support/daemon/watched_calls.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

namespace teamo::test {
namespace {

class Adoption : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Option, Adoption, testing::Bool(),
                         [](const auto& with) { return with.param ? "option_o" : "no_option"; });

TEST_P(Adoption, loses_no_packet_and_no_link) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    const auto address = look(wires.host(), "team0").address;
    const auto index = look(wires.host(), "team0").index;
    LinkMonitor monitor(wires.host());
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 20'000});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 20'000});
    for (int round = 1; round <= 3; ++round) {
        team.kill();
        EXPECT_TRUE(out.flows(2'000) && in.flows(2'000)) << "without a daemon";
        team.start(GetParam() ? std::vector<std::string>{"-o"} : std::vector<std::string>{});
        EXPECT_TRUE(out.flows(2'000) && in.flows(2'000)) << "round " << round;
        EXPECT_TRUE(team.link_is_up("eth4")) << "round " << round;
    }
    out.stop();
    in.stop();
    fmt::print("out: {}\nin: {}\n", text_of(out.tally()), text_of(in.tally()));
    EXPECT_EQ(0U, out.tally().lost + out.tally().duplicated) << text_of(out.tally());
    EXPECT_EQ(0U, in.tally().lost + in.tally().duplicated) << text_of(in.tally());
    EXPECT_EQ("", monitor.losses());
    EXPECT_EQ(address, look(wires.host(), "team0").address);
    EXPECT_EQ(index, look(wires.host(), "team0").index);
}

TEST_P(Adoption, keeps_the_active_port) {
    const Cabling wires(2, FarSide::learning_switch);
    TeamUnderTest team(ranked_activebackup(2)); // would choose eth1
    bring_up(wires, team);
    team.set_item("runner.active_port", "eth2");
    ASSERT_TRUE(team.await_item("runner.active_port", "eth2"));
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 20'000});
    team.kill();
    team.start(GetParam() ? std::vector<std::string>{"-o"} : std::vector<std::string>{});
    EXPECT_TRUE(in.flows());
    EXPECT_EQ("eth2", team.item("runner.active_port"));
    in.stop();
    EXPECT_EQ(0U, in.tally().lost + in.tally().duplicated) << text_of(in.tally());
}

TEST(Adoption, takes_over_a_team_of_teamd_without_a_pause) {
    const Cabling wires(2, FarSide::lag_switch);
    if (!kernel_has_driver("team")) GTEST_SKIP() << "this kernel has no team driver";
    for (const auto* port : {"eth1", "eth2"})
        wires.host().ip(fmt::format("link set {} down", port));
    const ConfigFile config(loadbalance(2));
    auto teamd = Process::start({.argv = {"teamd", "-f", config.path()}, .in = &wires.host()});
    ASSERT_TRUE(eventually("teamd has made its device", [&] { return exists(wires.host(), "team0"); }));
    wires.address();
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    // Slow enough for the kernel's backlog when the guest stands still for a while.
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 2'000});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 2'000});
    EXPECT_TRUE(out.flows(400) && in.flows(400)) << "with teamd";
    teamd.signal(SIGKILL);
    ASSERT_TRUE(teamd.wait(patient(long_enough)));
    TeamUnderTest team(loadbalance(2), {"--datapath", "team", "-o"});
    EXPECT_TRUE(team.await_link("eth1") && team.await_link("eth2"));
    EXPECT_TRUE(out.flows(400) && in.flows(400));
    out.stop();
    in.stop();
    // clsact at a port that transmits would cost some 20 ms of packets: 40.
    EXPECT_LE(out.tally().lost, 10U) << text_of(out.tally());
    EXPECT_LE(in.tally().lost, 10U) << text_of(in.tally());
}

TEST(Adoption, after_a_pulled_cable) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    team.kill();
    wires.pull(2);
    team.start();
    EXPECT_TRUE(team.await_link("eth2", false));
    // If eth2 counted as up, half of the flows would use it.
    std::vector<std::unique_ptr<Stream>> flows;
    for (std::uint16_t port = 5001; port <= 5016; ++port)
        flows.push_back(std::make_unique<Stream>(Stream::Way{
            .from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 200, .port = port}));
    for (const auto& flow : flows)
        EXPECT_TRUE(flow->flows(20));
    for (const auto& flow : flows) {
        flow->stop();
        EXPECT_EQ(0U, flow->tally().lost) << text_of(flow->tally());
    }
}

TEST(Adoption, after_a_port_vanished) {
    const Cabling wires(3, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(3));
    bring_up(wires, team);
    team.kill();
    wires.host().ip("link del eth2");
    team.start();
    EXPECT_EQ("", team.item("ports.eth2.link_watches.up"));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Adoption, after_a_port_was_added_by_hand) {
    const Cabling wires(3, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth3"}).status);
    bring_up(wires, team);
    team.kill();
    team.start();
    EXPECT_TRUE(team.link_is_up("eth3"));
}

/// STRSET_GET, LINKMODES_GET, FEATURES_GET (ethtool_netlink.h).
bool asks_ethtool(const std::string& step) {
    return step.starts_with("netlink 16 ") &&
           (step.ends_with(" command 1") || step.ends_with(" command 4") || step.ends_with(" command 11"));
}

/// No RTM_SETLINK (19), no address or route, no ethtool setting, no file of /proc or /sys. Not even the
/// journal, which has what it should.
bool may_be_of_an_adoption(const std::string& step) {
    return step.starts_with("bpf 2 ") ||     // fills the maps of its own programs
           step.starts_with("bpf 3 ") ||     // the same: a slot without a port
           step == "netlink 0 message 44" || // replaces a filter
           step == "bpf 28" ||               // the iterator that reads the programs' names
           step.starts_with("bpf 8") ||      // tcx, netkit: attaches a program
           step.starts_with("bpf 9") ||      // tcx, netkit: detaches that of the last daemon
           asks_ethtool(step) || step.find(" /run/teamd/") != std::string::npos ||
           step.ends_with(" /run/teamd");
}

/// Compare, then write: of a team that is as planned a new daemon writes its own programs and files.
TEST(Adoption, writes_only_what_is_its_own) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    if (by_driver(wires) || by_bonding(wires))
        GTEST_SKIP() << "the list of calls is that of the BPF datapath";
    team.kill();
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls));
    for (unsigned port = 1; port <= wires.ports(); ++port)
        EXPECT_TRUE(team.await_link(Cabling::port(port)));
    for (const auto& step : calls.steps())
        EXPECT_TRUE(may_be_of_an_adoption(step)) << step;
    const auto attaches = [](const std::string& step) {
        return step == "netlink 0 message 44" || step.starts_with("bpf 8");
    };
    // The receive program of each port and the transmit program: once, in their places.
    EXPECT_EQ(std::ranges::count_if(calls.steps(), attaches), wires.ports() + 1);
}

TEST(Adoption, not_with_force_recreate) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    const auto index = look(wires.host(), "team0").index;
    team.kill();
    team.start({"-r"});
    EXPECT_NE(index, look(wires.host(), "team0").index);
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Adoption, after_no_quit_destroy) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2), {"-N"});
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 20'000});
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(exists(wires.host(), "team0"));
    EXPECT_TRUE(out.flows());
    team.start();
    EXPECT_TRUE(out.flows());
    out.stop();
    EXPECT_EQ(0U, out.tally().lost + out.tally().duplicated) << text_of(out.tally());
}

} // namespace
} // namespace teamo::test
