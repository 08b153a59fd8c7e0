// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/removal_impact.h"

#include "unit/ctl/support.h"
#include "json/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::HasSubstr;
using testing::Optional;

RemovalImpact impact_of(const TeamState& state, const Rates& rates, const std::string& port = "eth1") {
    return removal_impact_of(state, *find_port(state, port), rates);
}

Flow flow(std::uint16_t port) {
    return {.socket = {.local = *parse_ip("10.0.0.1"),
                       .remote = *parse_ip("10.0.0.2"),
                       .local_port = port,
                       .remote_port = 80,
                       .device = {},
                       .inode = port},
            .bucket = 137,
            .owner = SocketOwner{.pid = 4711, .name = "curl"}};
}

TEST(PortRemoval, lists_effects_and_remaining_capacity) {
    auto state = good_team();
    state.balance->loads[4] = {.bytes = 10e6, .packets = 1, .bulk = 0};
    auto one = impact_of(state, {{"eth1", 12.5e6}, {"eth2", 39e6}});
    one.flows = {.by_port = {flow(40000)}, .all = 3, .unknown = 1};
    EXPECT_EQ(one.refusal, std::nullopt);
    EXPECT_EQ(text_of(one),
              "without eth1 (nothing is changed):\n"
              "  buckets: 64 of 256 leave by it with 80 Mbit/s; they move to eth2, eth3, eth4\n"
              "  connections: 1 of 3 leave by it; not known for 1\n"
              "    10.0.0.1:40000 -> 10.0.0.2:80: bucket 137, curl (4711)\n"
              "  workers: none are bound\n"
              "  offloads: the others have the same\n"
              "  capacity: the other 3 ports carry 3000 Mbit/s, the team sends 412 Mbit/s: they can\n");
}

TEST(PortRemoval, names_what_all_remaining_ports_newly_share) {
    auto state = good_team(3);
    for (auto& port : state.ports)
        port.domain = {.card = "0000:03:00",
                       .root_port = "0000:00:1c.0",
                       .node = 0,
                       .at = {.source = SwitchSource::lldp, .id = "a", .name = "leaf-7", .port = port.name}};
    state.ports[0].domain.card = "0000:04:00";
    state.ports[0].domain.at.id = "b";
    state.common = {.card = {}, .root_port = "0000:00:1c.0", .node = 0, .at = {}};
    const auto without_other = impact_of(state, {});
    EXPECT_THAT(text_of(without_other),
                HasSubstr("  redundancy: all others share one switch leaf-7 and one card 0000:03:00\n"));
    EXPECT_EQ(json::child(json_of("team0", without_other), "newly_shared"),
              json::Value(json::Object{
                  {"card", "0000:03:00"}, {"numa_node", -1}, {"root_port", ""}, {"switch", "leaf-7"}}))
        << "they shared the root port before";
    EXPECT_THAT(text_of(impact_of(state, {}, "eth3")), testing::Not(HasSubstr("redundancy")));
    state.ports[1].transmits = state.ports[1].link_up = false;
    EXPECT_THAT(text_of(impact_of(state, {})), testing::Not(HasSubstr("redundancy"))) << "a port alone";
}

TEST(PortRemoval, counts_workers_that_receive_most_by_the_port) {
    auto state = good_team();
    const auto worker = [](CpuList cpus, std::map<std::string, std::uint64_t> by_port) {
        WorkerStatus status{.cpus = std::move(cpus)};
        status.traffic.by_port = std::move(by_port);
        return status;
    };
    state.workers.emplace();
    state.workers->workers = {worker({0}, {{"eth1", 9}, {"eth2", 1}}), worker({1}, {{"eth2", 9}}),
                              worker({}, {{"eth1", 9}})};
    const auto some = impact_of(state, {});
    EXPECT_EQ(2U, some.workers.size());
    EXPECT_THAT(text_of(some),
                testing::HasSubstr("  workers: 2 are bound, of which 1 receives most by it\n"));
}

TEST(PortRemoval, shows_twenty_connections_and_counts_the_rest) {
    const auto state = good_team();
    auto many = impact_of(state, {});
    for (std::uint16_t port = 1; port <= 25; ++port)
        many.flows.by_port.push_back(flow(port));
    const auto text = text_of(many);
    EXPECT_EQ(std::ranges::count(text, '>'), 20);
    EXPECT_THAT(text, HasSubstr("    and 5 more\n"));
}

TEST(PortRemoval, is_refused_for_the_last_port_and_for_too_little_capacity) {
    auto state = good_team(2);
    EXPECT_THAT(
        impact_of(state, {{"eth1", 80e6}, {"eth2", 80e6}}).refusal,
        Optional(HasSubstr("the other port carries 1000 Mbit/s, the team sends 1280 Mbit/s: too much")));
    EXPECT_EQ(impact_of(state, {{"eth1", 60e6}, {"eth2", 60e6}}).refusal, std::nullopt);
    state.ports[1].transmits = state.ports[1].link_up = false;
    EXPECT_EQ(impact_of(state, {}).refusal, "it is the last port that carries");
    EXPECT_EQ(impact_of(state, {}, "eth2").refusal, std::nullopt) << "nothing leaves by it";
}

TEST(PortRemoval, counts_a_waiting_port_only_if_no_other_port_transmits) {
    auto state = good_team(3);
    state.ports[2].transmits = false; // it lacks an offload, or loses packets
    EXPECT_EQ(impact_of(state, {}).remaining_ports, std::vector<std::string>{"eth2"});
    state.ports[1].transmits = state.ports[1].link_up = false;
    EXPECT_EQ(impact_of(state, {}).remaining_ports, std::vector<std::string>{"eth3"});
    EXPECT_EQ(impact_of(state, {}).refusal, std::nullopt);
    state.runner = "lacp";
    EXPECT_EQ(impact_of(state, {}).refusal, "it is the last port that carries")
        << "its partner has not agreed";
}

TEST(PortRemoval, is_refused_if_unknown_speeds_are_needed) {
    auto state = good_team(3);
    state.ports[2].link.speed.reset();
    EXPECT_EQ(impact_of(state, {{"eth1", 100e6}}).refusal, std::nullopt) << "eth2 alone can";
    EXPECT_THAT(impact_of(state, {{"eth1", 100e6}, {"eth2", 100e6}}).refusal,
                Optional(HasSubstr("(the speed of eth3 is not known)")));
}

TEST(PortRemoval, computes_capacity_by_runner) {
    auto state = good_team(3);
    state.ports[1].link.speed = 100;
    const auto megabits = [&](const char* runner) {
        state.runner = runner;
        return capacity_without(state, "eth1").bytes / 125e3;
    };
    EXPECT_EQ(megabits("loadbalance"), 1100);
    EXPECT_EQ(megabits("roundrobin"), 200);
    EXPECT_EQ(megabits("broadcast"), 100);
    state.ports[1].transmits = state.ports[2].transmits = false;
    EXPECT_EQ(megabits("activebackup"), 100);
    state.runner = "broadcast";
    EXPECT_EQ(team_load(state, {{"eth1", 5}, {"eth2", 5}}), 5);
}

TEST(PortRemoval, includes_every_connection_without_a_hash) {
    auto state = good_team(2);
    const auto& port = state.ports[0];
    EXPECT_EQ(leaves_by(state, port, std::uint8_t{0}), true);
    EXPECT_EQ(leaves_by(state, port, std::uint8_t{1}), false);
    EXPECT_EQ(leaves_by(state, port, std::nullopt), std::nullopt);
    state.balance.reset();
    EXPECT_EQ(leaves_by(state, port, std::nullopt), true);
    state.ports[0].transmits = false;
    EXPECT_EQ(leaves_by(state, port, std::nullopt), false);
}

PortOffloads offloads(FeatureNames active, std::uint32_t gso_max = 65536) {
    return {.features = {.active = std::move(active), .wanted = {}, .changeable = {}}, .gso_max = gso_max};
}

TEST(PortRemoval, names_lost_and_gained_offloads) {
    const OffloadsByPort ports{
        {"eth1", offloads({"tx-tcp-segmentation", "tx-tcp-mangleid-segmentation", "tx-checksum-ip-generic",
                           "rx-vlan-filter"},
                          16384)},
        {"eth2", offloads({"rx-checksum", "tx-checksum-ipv4", "tx-checksum-ipv6"})},
        {"eth3", offloads({"rx-checksum", "tx-tcp-segmentation", "tx-udp-segmentation", "tx-checksum-ipv4"})},
        {"eth4", offloads({})}};
    auto one = impact_of(good_team(), {});
    one.offloads = offload_change("eth1", {"eth2", "eth3", "eth4", "eth5"}, ports);
    EXPECT_EQ(one.offloads.lost, (std::map<std::string, std::vector<std::string>>{
                                     {"tx-checksum-ipv6", {"eth3"}}, {"tx-tcp-segmentation", {"eth2"}}}));
    EXPECT_THAT(text_of(one), HasSubstr("  offloads: eth3 has no tx-checksum-ipv6\n"
                                        "  offloads: eth2 has no tx-tcp-segmentation\n"
                                        "  offloads: the others have rx-checksum, which it does not have\n"
                                        "  offloads: packets may have 65536 bytes instead of 16384\n"));
}

TEST(PortRemoval, ignores_ports_with_unknown_offloads) {
    EXPECT_EQ(offload_change("eth1", {"eth2"}, {{"eth2", offloads({"rx-checksum"})}}), OffloadChange{});
    const auto none = offload_change("eth1", {"eth2"}, {{"eth1", offloads({"tx-tcp-segmentation"})}});
    EXPECT_TRUE(none.lost.empty() && none.gained.empty());
    const auto larger = offload_change(
        "eth1", {"eth2"}, {{"eth1", offloads({"rx-gro"}, 65536)}, {"eth2", offloads({"rx-gro"}, 16384)}});
    EXPECT_EQ(larger.gso_max, larger.gso_max_after) << "the others have a smaller limit";
}

TEST(Rates, omit_ports_that_were_removed_in_between) {
    auto before = good_team(3), after = good_team(3);
    before.ports[0].counters.tx_bytes = 1000;
    after.ports[0].counters.tx_bytes = 3000;
    before.ports[1].counters.tx_bytes = 5000; // it was removed and added again
    before.ports.pop_back();
    EXPECT_EQ(rates_between(before, after, std::chrono::milliseconds(500)), (Rates{{"eth1", 4000}}));
}

} // namespace
} // namespace teamo::ctl
