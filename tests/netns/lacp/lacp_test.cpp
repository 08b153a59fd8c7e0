// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two teams with the runner lacp, in two namespaces, with cables between them.
#include "lacp/lacpdu.h"
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/daemon/usage.h"
#include "support/traffic/packet.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

std::string detail(const TeamUnderTest& team, const std::string& port, std::string_view key) {
    return team.item(fmt::format("ports.{}.runner.detail.{}", port, key));
}

testing::AssertionResult carries(const TeamUnderTest& team, const std::string& port,
                                 milliseconds patience = long_enough) {
    return team.await_item(fmt::format("ports.{}.runner.detail.mux_state", port), "distributing", patience);
}

std::string reason(const TeamUnderTest& team, const std::string& port) {
    return detail(team, port, "not_used_because");
}

/// The partner takes the team for that system, and both of its ports carry.
bool partner_knows(Partner& partner, const std::string& system, const TeamUnderTest& team) {
    return partner.team().await_item(
               fmt::format("ports.{}.runner.partner_lacpdu_info.system", Cabling::far_end(1)), system) &&
           carries(team, "eth1") && carries(team, "eth2");
}

class LacpTeam : public testing::Test {
protected:
    explicit LacpTeam(unsigned ports = 2) : wires_(ports, FarSide::open) {}
    void up() const { wires_.host().ip("link set team0 up"); }
    bool has_carrier() const { return look(wires_.host(), "team0").carrier(); }
    /// Before it had lacp_strict, bonding let a port without a partner carry.
    bool withholds_carrier() const { return by_bonding(wires_) || !has_carrier(); }

    Cabling wires_;
};

TEST_F(LacpTeam, aggregates_and_passes_packets) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner(wires_, {1, 2});
    up();
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(carries(team, port));
    EXPECT_EQ("current", team.item("ports.eth1.runner.state"));
    EXPECT_EQ("true", team.item("ports.eth1.runner.selected"));
    EXPECT_TRUE(team.await_item("ports.eth2.runner.actor_lacpdu_info.state", "63"));
    EXPECT_TRUE(team.await_item("ports.eth2.runner.partner_lacpdu_info.state", "63"));
    EXPECT_EQ("", reason(team, "eth1"));
    EXPECT_THAT(team.teamdctl({"state", "view", "-v"}).out, HasSubstr("runner: lacp"));
    wires_.address();
    partner.address();
    EXPECT_TRUE(reaches(wires_.host(), client_v4));
}

TEST_F(LacpTeam, aggregates_after_the_second_cable) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner(wires_, {1, 2});
    wires_.pull(2);
    up();
    ASSERT_TRUE(carries(team, "eth1"));
    ASSERT_EQ("detached", detail(team, "eth2", "mux_state"));
    wires_.plug(2);
    EXPECT_TRUE(carries(team, "eth2"));
}

TEST_F(LacpTeam, says_that_a_port_has_no_link) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner(wires_, {1, 2});
    up();
    ASSERT_TRUE(carries(team, "eth2"));
    wires_.pull(2);
    EXPECT_TRUE(team.await_link("eth2", false));
    EXPECT_THAT(reason(team, "eth2"), HasSubstr("no link"));
    EXPECT_THAT(team.log(), testing::Not(HasSubstr("its link watch is down")));
}

TEST_F(LacpTeam, is_the_system_of_its_address) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "bonding keeps the address with which it began";
    Partner partner(wires_, {1, 2});
    up();
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(carries(team, port));
    const std::string first = "02:00:00:00:00:77", second = "02:00:00:00:00:78";
    const auto is_known = [&](const std::string& system) { return partner_knows(partner, system, team); };
    wires_.host().ip("link set team0 address " + first);
    EXPECT_TRUE(is_known(first));
    team.kill();
    wires_.host().ip("link set team0 address " + second);
    team.start();
    EXPECT_TRUE(is_known(second)) << "also if it was set while no daemon ran";
    EXPECT_THAT(team.log(), HasSubstr("the LACP system is " + second + " now"));
}

TEST_F(LacpTeam, is_the_configured_system) {
    const std::string system = "02:00:00:00:00:99";
    TeamUnderTest team(team_config(
        fmt::format(R"({{"name": "lacp", "fast_rate": true, "system": "{}"}})", system), ports_object(2)));
    Partner partner(wires_, {1, 2});
    up();
    EXPECT_TRUE(partner_knows(partner, system, team));
    wires_.host().ip("link set team0 address 02:00:00:00:00:77");
    team.kill();
    team.start();
    EXPECT_TRUE(partner_knows(partner, system, team)) << "whatever address the team has";
}

TEST_F(LacpTeam, clears_its_counters) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "they are the kernel's";
    up();
    const auto sent = [&](const char* port) { return std::stoi(detail(team, port, "lacpdus_sent")); };
    EXPECT_TRUE(eventually("LACPDUs", [&] { return sent("eth1") >= 3 && sent("eth2") >= 3; }));
    EXPECT_EQ(0, team.teamoctl({"clear", "statistics", "port", "eth1"}).status);
    EXPECT_LT(sent("eth1"), 3);
    EXPECT_GE(sent("eth2"), 3);
    EXPECT_EQ(0, team.teamoctl({"clear", "statistics"}).status);
    EXPECT_LT(sent("eth2"), 3);
    EXPECT_EQ(1, team.teamoctl({"clear", "statistics", "port", "eth9"}).status);
}

TEST_F(LacpTeam, has_no_carrier_without_a_partner) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "lacp_strict, which not all kernels have";
    up();
    EXPECT_TRUE(team.await_item("ports.eth1.runner.state", "defaulted"));
    EXPECT_TRUE(withholds_carrier());
    EXPECT_EQ("false", team.item("ports.eth1.datapath.transmits"));
    EXPECT_EQ("false", team.item("ports.eth1.datapath.receives"));
    EXPECT_THAT(reason(team, "eth1"), HasSubstr("no partner answers"));
    EXPECT_THAT(team.teamoctl({"state"}).out, HasSubstr("not used because: no partner answers"));
    EXPECT_THAT(team.log(), HasSubstr("port eth1 is not used: no partner answers"));
}

TEST_F(LacpTeam, leaves_a_port_whose_partner_falls_silent) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "a bond does not fall silent without its daemon";
    Partner partner(wires_, {1, 2});
    up();
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(carries(team, port));
    partner.team().signal(SIGSTOP);
    // After 3 s (measure/times_measure.cpp); at slow rate after 90 s.
    EXPECT_TRUE(team.await_item("ports.eth1.runner.state", "expired"));
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "false"));
    EXPECT_TRUE(eventually("no carrier", [&] { return withholds_carrier(); }));
    partner.team().signal(SIGCONT);
    EXPECT_TRUE(carries(team, "eth1"));
}

/// At this rate a partner that says nothing is missed after 90 s only.
constexpr std::string_view slow = R"({"name": "lacp"})";

TEST_F(LacpTeam, notices_at_once_that_its_partner_leaves) {
    TeamUnderTest team(team_config(slow, ports_object(2)));
    Partner partner(wires_, {1, 2}, "team1", slow);
    up();
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(carries(team, port));
    ASSERT_EQ(0, partner.team().teamdctl({"port", "remove", "p2"}).status);
    EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "false"));
    EXPECT_EQ("true", team.item("ports.eth1.datapath.transmits"));
}

TEST_F(LacpTeam, gives_a_flood_of_a_neighbour_little_time) {
    TeamUnderTest team(team_config(slow, ports_object(1)));
    if (by_bonding(wires_)) GTEST_SKIP() << "the kernel reads LACPDUs";
    up();
    const auto frame = PacketBuilder(lacp::slow_protocols, MacAddress{{2, 0, 0, 0, 0, 9}})
                           .other(lacp::ether_slow, 110)
                           .bytes();
    const PacketSocket neighbour(wires_.peer(), Cabling::far_end(1));
    const auto before = cpu_time(team.pid());
    unsigned sent = 0;
    for (const auto begin = SteadyClock::now(); since(begin) < 1s; ++sent)
        neighbour.send(frame);
    const auto share = std::chrono::duration<double>(cpu_time(team.pid()) - before).count();
    fmt::print("{} frames, {:.3f} s of a CPU\n", sent, share);
    EXPECT_LT(share, 0.3);
    EXPECT_TRUE(team.answers());
}

TEST_F(LacpTeam, needs_min_ports_for_a_carrier) {
    TeamUnderTest team(
        team_config(R"({"name": "lacp", "fast_rate": true, "min_ports": 2})", ports_object(2)));
    Partner partner(wires_, {1, 2});
    up();
    EXPECT_TRUE(eventually("carrier", [&] { return has_carrier(); }));
    wires_.pull(2);
    EXPECT_TRUE(eventually("no carrier", [&] { return withholds_carrier(); }));
    wires_.plug(2);
    EXPECT_TRUE(eventually("carrier", [&] { return has_carrier(); }));
}

TEST_F(LacpTeam, falls_back_to_one_port_until_a_partner_answers) {
    TeamUnderTest team(
        team_config(R"({"name": "lacp", "fast_rate": true, "fallback": true})", ports_object(2)));
    up();
    EXPECT_TRUE(team.await_item("ports.eth1.runner.state", "fallback"));
    EXPECT_EQ("true", team.item("ports.eth1.datapath.transmits"));
    EXPECT_EQ("false", team.item("ports.eth2.datapath.receives"));
    EXPECT_TRUE(has_carrier());
    Partner partner(wires_, {1, 2});
    EXPECT_TRUE(carries(team, "eth1"));
    EXPECT_TRUE(carries(team, "eth2"));
}

TEST_F(LacpTeam, keeps_its_partner_over_kill_and_restart) {
    // A daemon may take longer to start than the short timeout allows.
    TeamUnderTest team(team_config(slow, ports_object(2)));
    Partner partner(wires_, {1, 2}, "team1", slow);
    up();
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(carries(team, port));
    wires_.address();
    partner.address();
    const NetNs& far = wires_.peer();
    Stream out({.from = &wires_.host(), .to = &far, .address = client_v4, .rate = 20'000});
    Stream in({.from = &far, .to = &wires_.host(), .address = team_v4, .rate = 20'000});
    for (int round = 0; round < 3; ++round) {
        team.kill();
        EXPECT_TRUE(out.flows(2'000) && in.flows(2'000)) << "without a daemon";
        team.start();
        EXPECT_TRUE(out.flows(2'000) && in.flows(2'000)) << "round " << round;
        EXPECT_EQ("distributing", detail(partner.team(), "p1", "mux_state"));
        EXPECT_EQ("distributing", detail(team, "eth2", "mux_state"));
    }
    out.stop();
    in.stop();
    EXPECT_EQ(0U, out.tally().lost + out.tally().duplicated) << text_of(out.tally());
    EXPECT_EQ(0U, in.tally().lost + in.tally().duplicated) << text_of(in.tally());
    if (by_bonding(wires_)) return; // uses its first port before it has a partner
    EXPECT_THAT(partner.team().log(), testing::Not(HasSubstr("no longer carries")));
}

class LacpTeamOfFour : public LacpTeam {
protected:
    LacpTeamOfFour() : LacpTeam(4) {}
};

/// The larger aggregate wins; by lacp_prio it would be that of the partner with the lower address.
constexpr std::string_view by_count = R"({"name": "lacp", "fast_rate": true, "agg_select_policy": "count"})";

TEST_F(LacpTeamOfFour, keeps_ports_at_another_switch_out) {
    TeamUnderTest team(team_config(by_count, ports_object(4)));
    Partner partner(wires_, {1, 2, 3}), other(wires_, {4}, "team2");
    up();
    for (const auto* port : {"eth1", "eth2", "eth3"})
        EXPECT_TRUE(carries(team, port)) << port;
    if (by_bonding(wires_)) {
        EXPECT_TRUE(team.await_item("ports.eth4.datapath.transmits", "false"));
        EXPECT_THAT(reason(team, "eth4"), HasSubstr("prefers another aggregator"));
        return;
    }
    EXPECT_TRUE(eventually(
        "the reason", [&] { return reason(team, "eth4").find("check the cables") != std::string::npos; }));
    EXPECT_EQ("false", team.item("ports.eth4.datapath.receives"));
    EXPECT_EQ("false", team.item("ports.eth4.runner.selected"));
    EXPECT_THAT(team.log(), HasSubstr("port eth4 is not used: its partner is "));
}

TEST_F(LacpTeamOfFour, chooses_the_larger_aggregate_by_count) {
    TeamUnderTest team(team_config(by_count, ports_object(4)));
    Partner partner(wires_, {1}), other(wires_, {2, 3, 4}, "team2");
    up();
    for (const auto* port : {"eth2", "eth3", "eth4"})
        EXPECT_TRUE(carries(team, port)) << port;
    EXPECT_TRUE(team.await_item("ports.eth1.runner.selected", "false"));
}

} // namespace
} // namespace teamo::test
