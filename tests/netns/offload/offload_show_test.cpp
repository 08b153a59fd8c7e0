// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamoctl offload with real traffic: which port limits the team, and what that costs.
//
// lab: OffloadShow.* by none: teamoctl's output does not depend on the datapath
#include "netns/balance/balance_state.h"
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/traffic/flows.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <rapidjson/document.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StrEq;

constexpr std::string_view eth3_without_tso =
    R"({"eth1": {}, "eth2": {}, "eth3": {"offload": {"tso": "off"}}})";

/// A configuration that sends everything by eth3.
std::string all_by_eth3() {
    return team_config(activebackup,
                       R"({"eth1": {}, "eth2": {}, "eth3": {"prio": 100, "offload": {"tso": "off"}}})");
}

/// Measures loads every 300 ms and moves no bucket.
constexpr std::string_view counted_often =
    R"({"name": "loadbalance", "tx_hash": ["eth", "ipv4", "ipv6", "l4"], "tx_balancer": {"balancing_interval": 3}})";

struct Cost {
    std::string source;
    double bytes = 0, bulk = 0, percent = 0, ns_per_kib = 0;
};

/// The cost that the output shows for a port; throws if it shows none.
Cost cost_of(const TeamUnderTest& team, const char* port) {
    const auto said = ask(team, "offload", {"--json"});
    rapidjson::Document document;
    document.Parse(said.out.c_str());
    if (said.status != 0 || document.HasParseError() || !document["ports"][port].HasMember("cost"))
        throw SetupError("no cost: " + said.out + said.err);
    const auto& cost = document["ports"][port]["cost"];
    if (!cost.HasMember("cpu_percent")) throw SetupError(cost["unmeasured"].GetString());
    return {.source = cost["bulk_source"].GetString(),
            .bytes = cost["bytes_per_second"].GetDouble(),
            .bulk = cost["bulk_bytes_per_second"].GetDouble(),
            .percent = cost["cpu_percent"].GetDouble(),
            .ns_per_kib = cost["ns_per_kib"].GetDouble()};
}

TEST(OffloadShow, names_the_port_that_limits_the_team) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(
        team_config(by_flow, R"({"eth1": {}, "eth2": {"offload": {"tx-esp-segmentation": "require"}},
                                 "eth3": {"offload": {"tso": "off"}}})"));
    bring_up(wires, team);
    for (const auto* words : {"offload", "offload show"}) {
        const auto said = ask(team, words);
        EXPECT_EQ(0, said.status) << said.err;
        EXPECT_THAT(said.out, HasSubstr("\neth3   off"));
        EXPECT_THAT(said.out, HasSubstr("\n!  required, but not on\n"));
        EXPECT_THAT(said.out, HasSubstr("\neth2 limits the team: it has no tx-esp-segmentation, which is "
                                        "required; it is used anyway\n"));
        EXPECT_THAT(said.out,
                    HasSubstr("\neth3 limits the team: it has tx-tcp-segmentation, tx-tcp6-segmentation "
                              "off, as configured; others have it on\n"));
        EXPECT_THAT(said.out, AnyOf(HasSubstr("\neth3: nothing to segment now\n"),
                                    HasSubstr("little or nothing is segmented now\n"), // neighbour discovery
                                    HasSubstr("not known how much of it is bulk")));
        EXPECT_THAT(said.out, Not(HasSubstr("eth1 ho")));
    }
}

TEST(OffloadShow, shows_a_demoted_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, R"({"eth1": {}, "eth2": {"offload":
        {"tx-esp-segmentation": "require", "lacking": "demote"}}})"));
    bring_up(wires, team);
    EXPECT_THAT(ask(team, "offload").out,
                HasSubstr("eth2 limits the team: it has no tx-esp-segmentation, which is required; it "
                          "carries only while no other port can\n"));
}

TEST(OffloadShow, names_the_port_that_limits_packet_size) {
    const Cabling wires(2, FarSide::open);
    wires.host().ip("link set eth2 gso_max_size 20000");
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_THAT(
        ask(team, "offload").out,
        HasSubstr("eth2 limits the packets of the team to 20000 bytes; the other ports allow 65536\n"));
    wires.host().ip("link set eth1 gso_max_size 20000");
    EXPECT_TRUE(eventually("all ports have the same limit", [&] {
        const auto said = ask(team, "offload").out;
        return said.find("no port limits the team\n") != std::string::npos;
    }));
}

TEST(OffloadShow, measures_software_segmentation) {
    const Cabling wires(3, FarSide::learning_switch);
    const TeamUnderTest team(all_by_eth3());
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const auto devices = must(wires.host(), "ip -o link | sed 's/ state .*//'");
    const auto features = must(wires.host(), "ethtool -k eth3 && ethtool -k eth1");
    const BulkFlows flows(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rates = {20e6}});
    // Skip the first second, in which the connection may have started.
    Cost cost;
    ASSERT_TRUE(eventually("bulk leaves by eth3", [&] {
        cost = cost_of(team, "eth3");
        return cost.bulk > 1e6;
    }));
    EXPECT_THAT(cost.source, StrEq(by_driver(wires) ? "unknown" : "at least"));
    EXPECT_LE(cost.bulk, cost.bytes);
    EXPECT_GT(cost.ns_per_kib, 0);
    EXPECT_GT(cost.percent, 0);
    // The figures are rounded.
    EXPECT_NEAR(cost.percent, cost.bulk / 1024 * cost.ns_per_kib / 1e7, 0.02 * cost.percent);
    EXPECT_THAT(ask(team, "offload").out,
                AllOf(HasSubstr("segmented in software: "), HasSubstr(" of a CPU ("),
                      HasSubstr(" ns/KiB measured here)\n")));
    EXPECT_EQ(devices, must(wires.host(), "ip -o link | sed 's/ state .*//'"))
        << "the measurement uses another namespace";
    EXPECT_EQ(features, must(wires.host(), "ethtool -k eth3 && ethtool -k eth1"));
}

TEST(OffloadShow, uses_bulk_counters_of_the_datapath) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(team_config(counted_often, eth3_without_tso));
    bring_up(wires, team);
    if (by_driver(wires))
        GTEST_SKIP() << "the driver only counts if the team balances, which moves bulk away from eth3";
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const BulkFlows flows(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rates = {20e6}});
    Cost cost;
    ASSERT_TRUE(eventually("bulk is counted at eth3", [&] {
        for (const auto bucket : balance_of(team).busiest)
            ask(team, fmt::format("balance move {} eth3 now", bucket));
        cost = cost_of(team, "eth3");
        return cost.source == "counted" && cost.bulk > 1e6;
    }));
    EXPECT_LE(cost.bulk, cost.bytes);
    EXPECT_GT(cost.percent, 0);
}

TEST(OffloadShow, explains_a_missing_measurement) {
    const Cabling wires(3, FarSide::learning_switch);
    const TeamUnderTest team(all_by_eth3());
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const BulkFlows flows(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rates = {20e6}});
    Output said;
    EXPECT_TRUE(eventually(
        "bulk leaves by eth3",
        [&] {
            said = sh(wires.host(), "setpriv --bounding-set -sys_admin --inh-caps -sys_admin " +
                                        teamoctl_program() + " team0 offload");
            return said.out.find("segmented in software; the cost is not measured: cannot create a network "
                                 "namespace: Operation not permitted\n") != std::string::npos;
        }))
        << said.out << said.err;
    EXPECT_EQ(0, said.status);
}

} // namespace
} // namespace teamo::test
