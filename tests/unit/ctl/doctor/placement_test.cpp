// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

constexpr PcieLink gen3_x8{.speed = 8, .width = 8}, gen2_x4{.speed = 5, .width = 4},
    gen1_x1{.speed = 2.5, .width = 1};

/// A card below its own root port, at full speed.
DevicePlace good_place(unsigned number) {
    return {.address = fmt::format("0000:{:02x}:00.0", number),
            .path = {fmt::format("0000:00:{:02x}.0", number)},
            .above = {gen3_x8},
            .node = static_cast<int>(number % 2),
            .current = gen3_x8,
            .card = gen3_x8,
            .slot = gen3_x8};
}

CpuTopology topology(unsigned nodes) {
    CpuTopology read;
    for (unsigned number = 0; number < 8; ++number)
        read.cpus.push_back({.number = number, .core = number, .node = number % nodes});
    return read;
}

Readings well_placed(unsigned ports = 4, std::uint32_t speed = 10000) {
    auto readings = good_readings(ports);
    readings.topology = topology(2);
    for (auto& port : readings.state.ports) {
        port.link.speed = speed;
        readings.places[port.name] = good_place(port.ifindex.value);
    }
    return readings;
}

/// Makes eth1, eth2 … functions of one card.
void put_on_one_card(Readings& readings, const PcieLink& now) {
    unsigned function = 0;
    for (auto& [port, place] : readings.places) {
        place = good_place(1);
        place.address = fmt::format("0000:01:00.{}", function++);
        place.current = place.above[0] = now;
    }
    readings.topology = {};
}

std::string findings_of(const Readings& readings) { return text_of("team0", placement_findings(readings)); }

constexpr auto no_finding = "team0: nothing is wrong\n";

TEST(Placement, accepts_cards_at_full_speed) {
    EXPECT_EQ(findings_of(well_placed()), no_finding);
    EXPECT_THAT(all_findings(well_placed()), IsEmpty());
}

TEST(Placement, ignores_devices_without_pci_express) {
    auto readings = well_placed();
    for (auto& [port, place] : readings.places)
        place = {};
    EXPECT_EQ(findings_of(readings), no_finding);
    for (auto& [port, place] : readings.places)
        place = {.address = "0000:00:03.0", .path = {}, .above = {}, .node = 0};
    readings.topology = topology(1);
    EXPECT_EQ(findings_of(readings), no_finding);
    readings.places.clear();
    readings.topology = topology(2);
    EXPECT_EQ(findings_of(readings), no_finding);
}

TEST(Placement, reports_a_slot_slower_than_its_card) {
    auto readings = well_placed();
    auto& place = readings.places["eth2"];
    place.current = place.slot = place.above[0] = gen2_x4;
    EXPECT_EQ(findings_of(readings),
              "note: eth2: its card runs at 5 GT/s x4 (16000 Mbit/s), the maximum of its slot; it "
              "supports 8 GT/s x8 (63015 Mbit/s)\n"
              "    move 0000:02:00.0 to a slot with 8 GT/s and 8 lanes\n");
    readings.state.ports[1].link.speed = 25000;
    EXPECT_THAT(findings_of(readings), StartsWith("warning: eth2: its card runs at 5 GT/s x4"));
    EXPECT_THAT(findings_of(readings), testing::HasSubstr("(63015 Mbit/s): too slow for 25000 Mbit/s\n"));
    readings.state.ports[1].link.speed.reset();
    EXPECT_THAT(findings_of(readings), StartsWith("note: eth2"));
    place.slot = {};
    EXPECT_THAT(findings_of(readings),
                StartsWith("note: eth2: its card runs at 5 GT/s x4 (16000 Mbit/s); it supports"));
}

TEST(Placement, reports_a_link_slower_than_slot_and_card) {
    auto readings = well_placed();
    auto& place = readings.places["eth3"];
    place.current = place.above[0] = {.speed = 8, .width = 1};
    EXPECT_EQ(findings_of(readings),
              "warning: eth3: its card runs at 8 GT/s x1 (7877 Mbit/s), but slot and card "
              "support 8 GT/s x8 (63015 Mbit/s): too slow for 10000 Mbit/s\n"
              "    reseat 0000:03:00.0, or try another slot\n");
    readings.state.ports[2].link.speed = 1000;
    EXPECT_THAT(findings_of(readings), StartsWith("note: eth3: its card runs at 8 GT/s x1"));
}

TEST(Placement, counts_all_functions_of_a_card) {
    auto readings = well_placed(2, 40000);
    put_on_one_card(readings, gen3_x8);
    EXPECT_EQ(findings_of(readings),
              "warning: team0: the card of eth1 and eth2 runs at 8 GT/s x8 (63015 Mbit/s): too "
              "slow for 80000 Mbit/s\n"
              "    use ports of another card for some of them\n");
    readings.state.runner = "activebackup";
    EXPECT_EQ(findings_of(readings), no_finding) << "one of them carries at a time";
    readings.state.runner = "roundrobin";
    readings.state.ports[0].link.speed = 10000;
    EXPECT_EQ(findings_of(readings), no_finding);

    put_on_one_card(readings, gen2_x4);
    EXPECT_THAT(findings_of(readings),
                StartsWith("warning: team0: the card of eth1 and eth2 runs at 5 GT/s x4 (16000 "
                           "Mbit/s), but slot and card support"));
    EXPECT_EQ(placement_findings(readings).size(), 1) << "once for the card, not for each port and bridge";
}

TEST(Placement, ignores_placeholder_links) {
    auto readings = well_placed(2);
    put_on_one_card(readings, gen1_x1);
    for (auto& [port, place] : readings.places)
        place.card = gen1_x1;
    EXPECT_EQ(findings_of(readings), no_finding);
    // The same for a bridge above cards without a known link.
    for (auto& [port, place] : readings.places)
        place.address = "0000:" + port.substr(3) + "0:00.0", place.current = place.card = {};
    EXPECT_EQ(findings_of(readings), no_finding);
    readings.places["eth1"].above[0] = readings.places["eth2"].above[0] = {.speed = 2.5, .width = 2};
    EXPECT_THAT(findings_of(readings), StartsWith("warning: team0: eth1 and eth2 are behind 0000:00:01.0"));
}

TEST(Placement, reports_a_bridge_slower_than_the_cards_behind_it) {
    auto readings = well_placed(3);
    // A switch in a slot, with eth1 and eth2 below it.
    for (const auto* port : {"eth1", "eth2"}) {
        auto& place = readings.places[port];
        place.path = {"0000:00:1c.0", "0000:05:00.0", std::string("0000:06:") + port[3] + "0.0"};
        place.above = {gen2_x4, gen2_x4, gen3_x8};
    }
    EXPECT_EQ(findings_of(readings),
              "warning: team0: eth1 and eth2 are behind 0000:00:1c.0, whose link runs at 5 GT/s "
              "x4 (16000 Mbit/s): too slow for 20000 Mbit/s\n"
              "    move a card to a slot behind another root port  (lspci -tv)\n");
    readings.places["eth2"].above[0] = readings.places["eth2"].above[1] = readings.places["eth1"].above[0] =
        readings.places["eth1"].above[1] = gen3_x8;
    EXPECT_EQ(findings_of(readings), no_finding);
}

TEST(Placement, reports_a_slow_bridge_above_one_card) {
    auto readings = well_placed(1, 25000);
    auto& place = readings.places["eth1"];
    place.path = {"0000:00:1c.0", "0000:05:00.0", "0000:06:01.0"};
    place.above = {gen2_x4, gen2_x4, gen3_x8};
    EXPECT_THAT(findings_of(readings),
                StartsWith("warning: eth1: is behind 0000:00:1c.0, whose link runs at 5 GT/s x4"));
    place.above[0] = place.above[1] = {};
    EXPECT_EQ(findings_of(readings), no_finding) << "not known";
}

TEST(Placement, notes_ports_spread_unevenly_over_nodes) {
    auto readings = well_placed();
    readings.places["eth1"].node = 0; // was 1
    EXPECT_EQ(findings_of(readings),
              "note: team0: its ports are spread unevenly over the NUMA nodes: eth1, eth2 and "
              "eth4 on node 0, eth3 on node 1\n"
              "    use ports of a card in a slot of another node  "
              "(/sys/class/net/PORT/device/numa_node)\n");
    readings.places["eth3"].node = 0;
    EXPECT_THAT(findings_of(readings),
                testing::HasSubstr("eth1, eth2, eth3 and eth4 on node 0, none on 1\n"));
    readings.state.runner = "activebackup";
    EXPECT_EQ(findings_of(readings), no_finding);
    readings.state.runner = "loadbalance";
    readings.topology = topology(1);
    EXPECT_EQ(findings_of(readings), no_finding) << "there is only one node";
    readings.topology = topology(2);
    for (auto& [port, place] : readings.places)
        place.node = -1;
    EXPECT_EQ(findings_of(readings), no_finding) << "not known";
}

TEST(Placement, accepts_two_to_one_for_three_ports) {
    EXPECT_EQ(findings_of(well_placed(3)), no_finding);
    EXPECT_EQ(findings_of(well_placed(1)), no_finding);
    auto readings = well_placed(2);
    readings.places["eth1"].node = 0;
    EXPECT_THAT(findings_of(readings), StartsWith("note: team0: its ports are spread unevenly"));
}

} // namespace
} // namespace teamo::ctl
