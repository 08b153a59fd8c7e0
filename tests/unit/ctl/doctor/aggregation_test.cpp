// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::string found(const Readings& readings) { return text_of("team0", aggregation_findings(readings)); }

constexpr auto nothing = "team0: nothing is wrong\n";

/// Three ports that sent the same amount; eth2 received nearly all.
Readings one_sided() {
    auto readings = good_readings(3);
    for (auto& port : readings.state.ports)
        port.counters = {.tx_packets = 50'000, .rx_packets = 400};
    readings.state.ports[1].counters.rx_packets = 200'000;
    readings.before = readings.state;
    return readings;
}

TEST(Aggregation, is_questioned_if_one_port_receives_nearly_all) {
    auto readings = one_sided();
    EXPECT_EQ(
        found(readings),
        "note: team0: 99.6 % of the received packets arrived by eth2, but the team also sends by eth1 "
        "and eth3: the switch may not aggregate the ports, or may hash fields that are equal in all packets\n"
        "    on the switch: put the ports into one static group (no LACP) that hashes addresses and "
        "ports\n");
    for (const auto* runner : {"roundrobin", "random", "broadcast"}) {
        readings.state.runner = runner;
        EXPECT_EQ(aggregation_findings(readings).size(), 1) << runner;
    }
    EXPECT_EQ(all_findings(readings).size(), 1);
}

TEST(Aggregation, by_lacp_says_why_a_port_is_not_used) {
    auto readings = one_sided(); // no evidence needed
    readings.state.runner = "lacp";
    EXPECT_EQ(found(readings), nothing);
    const auto because = [](const char* why) {
        return json::Object{{"runner", json::Object{{"detail", json::Object{{"not_used_because", why}}}}}};
    };
    readings.state.document =
        json::Object{{"ports", json::Object{{"eth1", because("")}, {"eth2", because("a loop")}}}};
    for (auto& port : readings.state.ports)
        port.link.up = true;
    EXPECT_EQ(found(readings),
              "warning: eth2: is not used: a loop\n"
              "    compare teamoctl team0 state -v with the switch: system, key and state of "
              "actor and partner\n");
    readings.state.ports[1].link.up = false; // another finding's subject
    EXPECT_EQ(found(readings), nothing);
}

TEST(Aggregation, is_not_questioned_with_few_packets_or_new_ports) {
    auto readings = one_sided();
    readings.state.ports[0].counters.rx_packets = 3000; // 1.5 %
    EXPECT_EQ(found(readings), nothing);
    readings = one_sided();
    readings.state.ports[1].counters.rx_packets = 90'000;
    EXPECT_EQ(found(readings), nothing);
    readings = one_sided();
    for (auto& port : readings.state.ports)
        if (port.name != "eth2") port.counters.tx_packets = 100; // just joined, or one connection sends
    EXPECT_EQ(found(readings), nothing);
    readings = one_sided();
    for (auto& port : readings.state.ports)
        port.receives = port.name == "eth2";
    EXPECT_EQ(found(readings), nothing) << "the others do not carry";
    readings.state.ports.clear();
    EXPECT_EQ(found(readings), nothing);
}

TEST(Aggregation, is_missing_if_frames_arrive_by_several_ports) {
    auto readings = one_sided();
    const auto& ports = readings.state.ports;
    readings.repeated = {
        .different = 14, .duplicated = 12, .own = 0, .ports = {ports[0].ifindex, ports[2].ifindex}};
    EXPECT_EQ(
        found(readings),
        "warning: team0: 12 of 14 broadcasts and multicasts in a second arrived by more than one port (eth1 "
        "and eth3): the switch does not aggregate the ports, or sends each frame by all of them; the team "
        "receives such frames more than once\n"
        "    on the switch: put the ports into one static group (no LACP) that hashes addresses and "
        "ports\n");
    readings.repeated = {.different = 14, .duplicated = 0, .own = 3, .ports = {ports[1].ifindex}};
    EXPECT_THAT(found(readings),
                testing::HasSubstr("team0: 3 frames sent by the team came back (eth2): the switch"));
    readings.repeated = {.different = 14, .duplicated = 2, .own = 1, .ports = {ports[1].ifindex}};
    EXPECT_THAT(found(readings),
                testing::HasSubstr("more than one port, 1 frame sent by the team came back (eth2)"));
    readings.repeated.own = 0;
    EXPECT_THAT(found(readings), testing::Not(testing::HasSubstr("more than one port")))
        << "two may have another cause";
    readings.repeated.duplicated = 12;
    for (const auto* runner : {"broadcast", "activebackup"}) {
        readings.state.runner = runner;
        EXPECT_THAT(found(readings), testing::Not(testing::HasSubstr("more than one port"))) << runner;
    }
}

TEST(Aggregation, is_wrong_with_slb) {
    auto readings = one_sided();
    readings.state.runner = "slb";
    for (auto& port : readings.state.ports)
        port.transmits = true;
    EXPECT_EQ(found(readings), nothing);
    readings.repeated = {.different = 14, .duplicated = 0, .own = 0, .broadcasts = 3};
    EXPECT_EQ(found(readings),
              "warning: team0: 3 broadcasts in a second arrived by one port each, and none came back: the "
              "switch seems to aggregate the ports, and with the runner slb frames that arrive by another "
              "port than their address's are dropped\n"
              "    on the switch: remove the group (LAG) of the ports; or here: \"runner\": {\"name\": "
              "\"loadbalance\"}, or \"lacp\"\n");
    readings.state.attached = AttachedStatus{.mode = "balance-xor"};
    EXPECT_THAT(found(readings), testing::HasSubstr("or here: remove \"runner\": {\"name\": \"slb\"}\n"))
        << "the configuration of such a bond has no other runner";
    readings.repeated.duplicated = 1;
    EXPECT_EQ(found(readings), nothing) << "so it is with slb";
}

TEST(Aggregation, is_not_expected_of_a_bond_that_balances_alone) {
    auto readings = one_sided();
    readings.repeated = {.different = 14, .duplicated = 12, .own = 3};
    for (const auto* mode : {"balance-tlb", "balance-alb"}) {
        readings.state.attached = AttachedStatus{.mode = mode, .unsteered = Unsteered::mode};
        EXPECT_EQ(found(readings), nothing) << mode;
        readings.repeated = {};
        EXPECT_EQ(found(readings), nothing) << mode << " receives by one port";
    }
    readings.state.attached->mode = "balance-xor";
    EXPECT_EQ(aggregation_findings(readings).size(), 1);
}

/// eth1 is active and eth2 is the backup port; packets received in a second.
Readings activebackup(std::uint64_t by_active, std::uint64_t by_other) {
    auto readings = good_readings(2);
    readings.state.runner = "activebackup";
    readings.state.balance.reset();
    auto& ports = readings.state.ports;
    ports[1].transmits = ports[1].receives = false;
    ports[0].counters.rx_packets = 7000;
    ports[1].counters.rx_dropped = 9000; // before
    readings.before = readings.state;
    ports[0].counters.rx_packets += by_active;
    ports[1].counters.rx_dropped += by_other;
    return readings;
}

TEST(Aggregation, is_reported_if_a_backup_port_receives_more_than_the_active_one) {
    EXPECT_EQ(
        found(activebackup(800, 1200)),
        "warning: eth2: is a backup port, but received 1200 packets in a second while the active port "
        "received 800 (eth1): the switch seems to aggregate the ports, and packets to a backup port are "
        "lost\n"
        "    on the switch: remove the group (LAG) of the ports; or here: \"runner\": {\"name\": "
        "\"loadbalance\"}\n");
    EXPECT_EQ(all_findings(activebackup(800, 1200)).size(), 1);
    auto bond = activebackup(800, 1200);
    bond.state.attached = AttachedStatus{.mode = "active-backup"};
    EXPECT_THAT(found(bond), testing::HasSubstr("or here: the bond's mode balance-xor, or 802.3ad\n"));
}

TEST(Aggregation, is_not_reported_for_flooded_packets) {
    EXPECT_EQ(found(activebackup(0, 0)), nothing);
    EXPECT_EQ(found(activebackup(0, 400)), nothing) << "too few";
    EXPECT_EQ(found(activebackup(3000, 3000)), nothing) << "flooded packets arrive at both";
    EXPECT_EQ(found(activebackup(3000, 3200)), nothing) << "not read at the same time";
    auto readings = activebackup(800, 1200);
    readings.before.ports[0].receives = readings.before.ports[0].transmits = false;
    readings.before.ports[1].receives = readings.before.ports[1].transmits = true;
    EXPECT_EQ(found(readings), nothing) << "the ports changed roles in between";
    readings = activebackup(800, 1200);
    readings.before.ports[1].counters.rx_dropped = 20'000;
    EXPECT_EQ(found(readings), nothing) << "the counters were reset";
    readings.state.ports[0].receives = false;
    EXPECT_EQ(found(readings), nothing) << "none is active";
}

TEST(Aggregation, is_detected_by_counters_of_the_team_driver_too) {
    auto readings = activebackup(800, 0);
    readings.state.ports[1].counters.rx_packets = 1200;
    readings.state.counts_by_program = readings.before.counts_by_program = false;
    EXPECT_EQ(aggregation_findings(readings).size(), 1);
    // The team driver's rx_dropped are packets without a buffer: not a sign of aggregation.
    EXPECT_THAT(aggregation_findings([] {
                    auto full = activebackup(800, 1200);
                    full.state.counts_by_program = full.before.counts_by_program = false;
                    return full;
                }()),
                IsEmpty());
}

constexpr MacAddress own{{2, 0, 0, 0, 0, 1}}, other{{2, 0, 0, 0, 0, 2}};
constexpr IfIndex eth1{11}, eth2{12}, eth3{13};

GroupFrame frame(IfIndex port, std::string bytes, std::chrono::nanoseconds at, MacAddress source = other) {
    return {.port = port, .source = source, .bytes = std::move(bytes), .at = at};
}

TEST(RepeatedFrames, arrive_by_two_ports_at_the_same_time) {
    const std::vector frames{frame(eth1, "a", 1s),       frame(eth1, "b", 2s), frame(eth2, "a", 1s + 3ms),
                             frame(eth3, "a", 1s + 4ms), frame(eth1, "c", 3s), frame(eth3, "c", 3s)};
    const auto found = repeated_frames(frames, own);
    EXPECT_EQ(3, found.different);
    EXPECT_EQ(2, found.duplicated);
    EXPECT_EQ(0, found.own);
    EXPECT_THAT(found.ports, ElementsAre(eth1, eth2, eth3));
}

TEST(RepeatedFrames, are_not_frames_that_a_sender_repeats) {
    const auto by_one = repeated_frames(std::vector{frame(eth1, "a", 1s), frame(eth1, "a", 1s + 1ms)}, own);
    EXPECT_EQ(0, by_one.duplicated);
    const auto later = repeated_frames(std::vector{frame(eth1, "a", 1s), frame(eth2, "a", 1s + 300ms)}, own);
    EXPECT_EQ(2, later.different);
    EXPECT_EQ(0, later.duplicated);
    EXPECT_THAT(later.ports, IsEmpty());
    EXPECT_EQ(RepeatedFrames{}, repeated_frames({}, own));
}

TEST(RepeatedFrames, include_own_frames_that_come_back) {
    const auto found = repeated_frames(std::vector{frame(eth2, "a", 1s, own), frame(eth1, "b", 1s)}, own);
    EXPECT_EQ(1, found.own);
    EXPECT_EQ(0, found.duplicated);
    EXPECT_THAT(found.ports, ElementsAre(eth2));
}

} // namespace
} // namespace teamo::ctl
