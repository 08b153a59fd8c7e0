// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A cable is pulled while the daemon is frozen or dead: the datapath itself must avoid the port.
//
// lab: */LostLink.costs_few_packets_by_hash/killed */LostLink.lets_the_backup_*/frozen by bond on 6.1, 15 s
// lab: */LostLink.* by bond, 75 s, long
// lab: */LostLink.costs_few_packets_by_hash/killed by team, 6 s
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

/// Far below what a machine loses by a pause of its own; a datapath that does not see the link loses
/// thousands.
constexpr std::uint64_t few = 100;
constexpr unsigned rate = 5'000;

/// The same in a guest of the lab, whose CPUs stop for tens of milliseconds on a busy machine.
std::uint64_t few_lost() { return emulated() ? 5 * few : few; }

void expect_few_lost(const Stream& stream, std::uint64_t first) {
    EXPECT_TRUE(stream.flows(500));
    const auto end = stream.next();
    EXPECT_TRUE(stream.flows(500));
    const auto tally = stream.tally(first, end);
    EXPECT_LE(tally.lost, few_lost()) << text_of(tally);
}

/// Pulls two cables one after the other.
void expect_pulls_cost_few(const Cabling& wires, const Stream& one, const Stream& other) {
    for (const unsigned port : {1U, 2U}) {
        wires.pull(port);
        // What veth drops until the port loses its link no datapath can know (dev_deactivate_many() waits for
        // RCU).
        const auto first = one.next(), first_other = other.next();
        expect_few_lost(one, first);
        expect_few_lost(other, first_other);
    }
}

/// All datapaths see links, on every kernel that is tried, except the team driver with activebackup.
bool sees_links(const TeamUnderTest& team) {
    const bool sees = team.item("datapath.sees_links") == "true";
    EXPECT_EQ(sees, team.item("datapath.name") != "team" || team.item("setup.runner_name") != "activebackup");
    return sees;
}

class LostLink : public testing::TestWithParam<int> {
protected:
    /// Freezes or kills the daemon.
    static void end(TeamUnderTest& team) {
        if (GetParam() == SIGKILL)
            team.kill();
        else
            team.signal(GetParam());
    }
};

/// Two flows, so that with every runner the port that is pulled carries a part.
void expect_avoided(std::string_view runner, const std::function<void(TeamUnderTest&)>& end) {
    const Cabling wires(3, FarSide::lag_switch);
    TeamUnderTest team(team_config(runner, ports_object(3)));
    if (!sees_links(team)) GTEST_SKIP() << team.item("datapath.sees_links_reason");
    bring_up(wires, team);
    const auto flow = [&](std::uint16_t port) {
        return Stream::Way{
            .from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate, .port = port};
    };
    const Stream one(flow(5001)), two(flow(5002));
    end(team);
    expect_pulls_cost_few(wires, one, two);
}

TEST_P(LostLink, costs_few_packets_by_hash) { expect_avoided(by_flow, end); }
TEST_P(LostLink, costs_few_packets_by_roundrobin) { expect_avoided(R"({"name": "roundrobin"})", end); }
TEST_P(LostLink, costs_few_packets_by_random) { expect_avoided(R"({"name": "random"})", end); }
TEST_P(LostLink, costs_few_packets_by_broadcast) { expect_avoided(R"({"name": "broadcast"})", end); }
TEST_P(LostLink, costs_few_packets_by_cpu) {
    expect_avoided(R"({"name": "loadbalance", "tx_hash": ["cpu"]})", end);
}

TEST_P(LostLink, lets_the_backup_port_take_over_without_a_daemon) {
    const Cabling wires(3, FarSide::learning_switch);
    TeamUnderTest team(ranked_activebackup(3));
    if (!sees_links(team)) GTEST_SKIP() << team.item("datapath.sees_links_reason");
    bring_up(wires, team);
    const Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    const Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    end(team);
    expect_pulls_cost_few(wires, out, in);
}

TEST_P(LostLink, stays_out_without_a_daemon_if_the_watch_has_a_delay) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(team_config(R"({"name": "roundrobin"})", ports_object(2),
                                   R"("link_watch": {"name": "ethtool", "delay_up": 100}, )"));
    if (!sees_links(team)) GTEST_SKIP() << team.item("datapath.sees_links_reason");
    bring_up(wires, team);
    if (by_driver(wires)) GTEST_SKIP() << "the driver uses a link that returns at once";
    const Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    end(team);
    wires.pull(1);
    EXPECT_TRUE(stream.flows(500));
    wires.plug(1);
    EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), "eth1").operstate; }));
    const auto sent = counters(wires.host(), "eth1").tx_packets;
    EXPECT_TRUE(stream.flows(1'000));
    EXPECT_LE(counters(wires.host(), "eth1").tx_packets, sent + few);
    // The next daemon lets it carry after the delay.
    if (GetParam() == SIGKILL)
        team.start();
    else
        team.signal(SIGCONT);
    EXPECT_TRUE(eventually("eth1 carries again",
                           [&] { return counters(wires.host(), "eth1").tx_packets > sent + 10 * few; }));
}

TEST(Adoption, delays_a_link_that_returned_without_a_daemon) {
    const Cabling wires(2, FarSide::lag_switch);
    const auto delay = patient(1'500ms);
    TeamUnderTest team(
        team_config(by_flow, ports_object(2),
                    fmt::format(R"("link_watch": {{"name": "ethtool", "delay_up": {}}}, )", delay.count())));
    bring_up(wires, team);
    const auto transmits = [&](const char* port) {
        return team.item(fmt::format("ports.{}.datapath.transmits", port));
    };
    ASSERT_TRUE(becomes("true", [&] { return transmits("eth1"); }));
    milliseconds took = delay;
    // On a busy machine a start may take longer than the delay.
    for (int tries = 0; tries < 5 && took >= delay; ++tries) {
        team.kill();
        wires.pull(1);
        wires.plug(1);
        EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), "eth1").operstate; }));
        const auto begin = SteadyClock::now();
        team.start();
        const auto at_first = transmits("eth1");
        took = since(begin);
        if (took < delay) {
            EXPECT_EQ("false", at_first);
        }
        EXPECT_EQ("true", transmits("eth2"));
        EXPECT_TRUE(becomes("true", [&] { return transmits("eth1"); }));
    }
    EXPECT_LT(took, delay);
    // The only port with a link carries on.
    team.kill();
    for (const unsigned port : {1U, 2U}) {
        wires.pull(port);
        wires.plug(port);
    }
    EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), "eth2").operstate; }));
    team.start();
    EXPECT_EQ("true", transmits("eth1"));
}

INSTANTIATE_TEST_SUITE_P(Daemon, LostLink, testing::Values(SIGSTOP, SIGKILL),
                         [](const auto& one) { return one.param == SIGSTOP ? "frozen" : "killed"; });

} // namespace
} // namespace teamo::test
