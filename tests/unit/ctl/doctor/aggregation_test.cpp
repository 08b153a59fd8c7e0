// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::IsEmpty;

std::string said(const Readings& readings) { return text_of("team0", aggregation_findings(readings)); }

constexpr auto nothing = "team0: nothing is wrong\n";

/// Three ports that sent alike; nearly all came in by eth2.
Readings one_sided() {
    auto readings = good_readings(3);
    for (auto& port : readings.state.ports)
        port.counters = {.tx_packets = 50'000, .rx_packets = 400};
    readings.state.ports[1].counters.rx_packets = 200'000;
    readings.before = readings.state;
    return readings;
}

TEST(Aggregation, is_doubted_where_all_comes_by_one_port) {
    auto readings = one_sided();
    EXPECT_EQ(
        said(readings),
        "note: team0: of what came in 99.6 % came by eth2, though it sends by eth1 and eth3 too: the switch "
        "may not aggregate the ports, or hash by what is the same in every packet\n"
        "    on the switch: the ports' links in one static group (no LACP), and its hash by addresses and "
        "ports\n");
    for (const auto* runner : {"roundrobin", "random", "broadcast"}) {
        readings.state.runner = runner;
        EXPECT_EQ(aggregation_findings(readings).size(), 1) << runner;
    }
    EXPECT_EQ(all_findings(readings).size(), 1);
}

TEST(Aggregation, is_not_doubted_for_little_or_for_what_is_new) {
    auto readings = one_sided();
    readings.state.ports[0].counters.rx_packets = 3000; // 1.5 %
    EXPECT_EQ(said(readings), nothing);
    readings = one_sided();
    readings.state.ports[1].counters.rx_packets = 90'000;
    EXPECT_EQ(said(readings), nothing);
    readings = one_sided();
    for (auto& port : readings.state.ports)
        if (port.name != "eth2") port.counters.tx_packets = 100; // just joined, or one connection sends
    EXPECT_EQ(said(readings), nothing);
    readings = one_sided();
    for (auto& port : readings.state.ports)
        port.receives = port.name == "eth2";
    EXPECT_EQ(said(readings), nothing) << "the others do not carry";
    readings.state.ports.clear();
    EXPECT_EQ(said(readings), nothing);
}

TEST(Aggregation, is_denied_where_frames_come_by_more_than_one_port) {
    auto readings = one_sided();
    const auto& ports = readings.state.ports;
    readings.repeated = {.seen = 14, .twice = 12, .own = 0, .by = {ports[0].ifindex, ports[2].ifindex}};
    EXPECT_EQ(
        said(readings),
        "warning: team0: 12 of 14 broadcasts and multicasts in a second came by more than one port (eth1 and "
        "eth3): the switch does not aggregate the ports, or sends each frame by all of them, and it is taken "
        "in more than once\n"
        "    on the switch: the ports' links in one static group (no LACP), and its hash by addresses and "
        "ports\n");
    readings.repeated = {.seen = 14, .twice = 0, .own = 3, .by = {ports[1].ifindex}};
    EXPECT_THAT(said(readings), testing::HasSubstr("team0: 3 of its own came back (eth2): the switch"));
    readings.repeated = {.seen = 14, .twice = 2, .own = 1, .by = {ports[1].ifindex}};
    EXPECT_THAT(said(readings), testing::HasSubstr("more than one port, 1 of its own came back (eth2)"));
    readings.repeated.own = 0;
    EXPECT_THAT(said(readings), testing::Not(testing::HasSubstr("more than one port")))
        << "two may be chance";
    readings.repeated.twice = 12;
    for (const auto* runner : {"broadcast", "activebackup"}) {
        readings.state.runner = runner;
        EXPECT_THAT(said(readings), testing::Not(testing::HasSubstr("more than one port"))) << runner;
    }
}

/// eth1 is active and eth2 stands by; what came in a second.
Readings standing_by(std::uint64_t by_active, std::uint64_t by_other) {
    auto readings = good_readings(2);
    readings.state.runner = "activebackup";
    readings.state.balance.reset();
    auto& ports = readings.state.ports;
    ports[1].transmits = ports[1].receives = false;
    ports[0].counters.rx_packets = 7000;
    ports[1].counters.rx_dropped = 9000; // of the past
    readings.before = readings.state;
    ports[0].counters.rx_packets += by_active;
    ports[1].counters.rx_dropped += by_other;
    return readings;
}

TEST(Aggregation, of_a_port_that_stands_by_loses_what_comes_there) {
    EXPECT_EQ(
        said(standing_by(800, 1200)),
        "warning: eth2: stands by, but 1200 packets in a second came by it and 800 by eth1, which is active: "
        "the switch seems to aggregate them, and what comes here is lost\n"
        "    on the switch: no group (LAG) of the ports; or here: \"runner\": {\"name\": "
        "\"loadbalance\"}\n");
    EXPECT_EQ(all_findings(standing_by(800, 1200)).size(), 1);
}

TEST(Aggregation, is_not_what_floods) {
    EXPECT_EQ(said(standing_by(0, 0)), nothing);
    EXPECT_EQ(said(standing_by(0, 400)), nothing) << "little";
    EXPECT_EQ(said(standing_by(3000, 3000)), nothing) << "a flood comes to both";
    EXPECT_EQ(said(standing_by(3000, 3200)), nothing) << "not read at one time";
    auto readings = standing_by(800, 1200);
    readings.before.ports[0].receives = readings.before.ports[0].transmits = false;
    readings.before.ports[1].receives = readings.before.ports[1].transmits = true;
    EXPECT_EQ(said(readings), nothing) << "the ports changed places meanwhile";
    readings = standing_by(800, 1200);
    readings.before.ports[1].counters.rx_dropped = 20'000;
    EXPECT_EQ(said(readings), nothing) << "counted anew";
    readings.state.ports[0].receives = false;
    EXPECT_EQ(said(readings), nothing) << "none is active";
}

TEST(Aggregation, is_seen_by_the_drivers_counters_too) {
    auto readings = standing_by(800, 0);
    readings.state.ports[1].counters.rx_packets = 1200;
    readings.state.datapath = readings.before.datapath = "team";
    EXPECT_EQ(aggregation_findings(readings).size(), 1);
    // What a driver dropped for want of room did not come by the switch's choice.
    EXPECT_THAT(aggregation_findings([] {
                    auto full = standing_by(800, 1200);
                    full.state.datapath = full.before.datapath = "team";
                    return full;
                }()),
                IsEmpty());
}

} // namespace
} // namespace teamo::ctl
