// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

/// Each port on a card of its own, by LLDP at the switch of its number.
Readings spread(unsigned ports, const std::string& runner = "activebackup") {
    auto readings = good_readings(ports);
    readings.state.runner = runner;
    for (auto& port : readings.state.ports) {
        const auto number = port.ifindex.value;
        port.domain = {.card = fmt::format("0000:{:02x}:00", number),
                       .root_port = fmt::format("0000:00:{:02x}.0", number),
                       .node = static_cast<int>(number % 2),
                       .at = {.source = SwitchSource::lldp,
                              .id = fmt::format("chassis-{}", number),
                              .name = {},
                              .port = "1"}};
    }
    for (unsigned number = 0; number < 2; ++number)
        readings.topology.cpus.push_back({.number = number, .core = number, .node = number});
    return readings;
}

/// The state document has it.
std::string redundancy_of(Readings readings) {
    std::vector<FailureDomain> domains;
    for (const auto* port : carriers(readings.state))
        domains.push_back(port->domain);
    readings.state.common = common_of(domains);
    return text_of("team0", redundancy_findings(readings));
}

constexpr auto well = "team0: nothing is wrong\n";

TEST(Redundancy, is_right_with_ports_that_share_nothing) { EXPECT_EQ(redundancy_of(spread(4)), well); }

TEST(Redundancy, is_not_judged_without_knowledge) {
    auto readings = spread(2);
    for (auto& port : readings.state.ports)
        port.domain = {};
    EXPECT_EQ(redundancy_of(readings), well);
    readings = spread(2);
    readings.state.ports[0].domain = readings.state.ports[1].domain;
    readings.state.ports[1].domain = {};
    EXPECT_EQ(redundancy_of(readings), well) << "of one port nothing is known";
}

TEST(Redundancy, names_one_card_of_all_ports) {
    auto readings = spread(4);
    for (auto& port : readings.state.ports) {
        port.domain.card = "0000:03:00";
        port.domain.root_port = "0000:00:1c.0";
        port.domain.node = 0;
    }
    EXPECT_EQ(
        redundancy_of(readings),
        "warning: team0: eth1, eth2, eth3 and eth4 are on one card (0000:03:00) in one slot: its failure "
        "stops the team\n"
        "    use a port of another card for one of them: teamoctl team0 port add PORT\n");
    readings.state.ports[3].domain.card = "0000:04:00";
    EXPECT_EQ(
        redundancy_of(readings),
        "note: team0: eth1, eth2, eth3 and eth4 are behind one PCIe root port (0000:00:1c.0): its failure "
        "stops the team\n"
        "    move a card to a slot behind another root port  (lspci -tv)\n");
}

TEST(Redundancy, names_one_numa_node_if_there_are_several) {
    auto readings = spread(2);
    for (auto& port : readings.state.ports)
        port.domain.node = 1;
    EXPECT_THAT(redundancy_of(readings), testing::HasSubstr("eth1 and eth2 are on one NUMA node (1)"));
    readings.topology.cpus.pop_back();
    readings.topology.cpus[0].node = 1;
    EXPECT_EQ(redundancy_of(readings), well);
}

TEST(Redundancy, counts_only_ports_that_carry_or_can_take_over) {
    auto readings = spread(3);
    readings.state.ports[0].domain.card = readings.state.ports[1].domain.card = "0000:0a:00";
    EXPECT_EQ(redundancy_of(readings), well);
    readings.state.ports[2].transmits = readings.state.ports[2].link_up = false;
    EXPECT_THAT(redundancy_of(readings), testing::HasSubstr("eth1 and eth2 are on one card"));
    readings.state.ports[1].transmits = readings.state.ports[1].link_up = false;
    EXPECT_EQ(redundancy_of(readings), well) << "a port alone";
}

TEST(Redundancy, names_one_switch) {
    auto readings = spread(2);
    for (auto& port : readings.state.ports)
        port.domain.at = {
            .source = SwitchSource::lldp, .id = "00:11:22:33:44:55", .name = "leaf-7", .port = "1"};
    EXPECT_EQ(redundancy_of(readings),
              "note: team0: eth1 and eth2 lead to one switch (leaf-7): its failure stops the team\n"
              "    connect one of them to another switch\n");
    readings.state.runner = "lacp";
    EXPECT_THAT(redundancy_of(readings),
                testing::HasSubstr("another switch, if both switches can aggregate"));
    for (auto& port : readings.state.ports)
        port.domain.at.source = SwitchSource::lacp;
    EXPECT_EQ(redundancy_of(readings), well) << "one LACP system may be two switches";
}

TEST(Redundancy, warns_of_different_switches_without_lacp) {
    EXPECT_EQ(
        redundancy_of(spread(2, "loadbalance")),
        "warning: team0: its ports lead to different switches (eth1 to chassis-1, eth2 to chassis-2): with "
        "the runner loadbalance each of them must treat the ports as one link\n"
        "    use the runner activebackup or slb, or lacp if the switches are one system (MLAG, stack)\n");
    EXPECT_EQ(redundancy_of(spread(2, "lacp")), well) << "MLAG";
    EXPECT_EQ(redundancy_of(spread(2, "broadcast")), well);
    EXPECT_EQ(redundancy_of(spread(2, "slb")), well);
    auto bond = spread(2, "loadbalance");
    bond.state.attached = AttachedStatus{.mode = "balance-alb"};
    EXPECT_EQ(redundancy_of(bond), well);
    bond.state.attached->mode = "balance-xor";
    EXPECT_THAT(redundancy_of(bond), testing::AllOf(testing::HasSubstr("different switches"),
                                                    testing::HasSubstr("the bond's mode active-backup")));
}

} // namespace
} // namespace teamo::ctl
