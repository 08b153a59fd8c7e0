// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/overview.h"

#include "unit/ctl/support.h"
#include "unit/lines.h"

#include <gmock/gmock.h>
#include <linux/if.h>
#include <net/if_arp.h>

namespace teamo::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::uint32_t with_link = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;

Link device(std::uint32_t index, const std::string& name, const std::string& kind = "") {
    Link link;
    link.index = IfIndex{index};
    link.name = name;
    link.kind = kind;
    link.flags = with_link;
    link.type = ARPHRD_ETHER;
    return link;
}

Link bond(std::uint32_t index, const std::string& name, BondMode mode) {
    auto link = device(index, name, bond_kind);
    link.bond_mode = mode;
    link.bond_policy = BondPolicy::layer34;
    return link;
}

Link slave(std::uint32_t index, const std::string& name, IfIndex master) {
    auto link = device(index, name);
    link.master = master;
    return link;
}

Overview machine_with(std::initializer_list<Link> devices) {
    Overview machine;
    Link loopback = device(1, "lo");
    loopback.type = ARPHRD_LOOPBACK;
    machine.links[loopback.index] = loopback;
    for (const auto& one : devices)
        machine.links[one.index] = one;
    return machine;
}

Overview with_bond(BondMode mode) {
    auto machine =
        machine_with({bond(9, "bond0", mode), slave(2, "eth0", IfIndex{9}), slave(3, "eth1", IfIndex{9})});
    machine.speeds[IfIndex{9}] = 2000;
    return machine;
}

TEST(Overview, offers_a_team_of_two_free_ports) {
    auto machine = machine_with({device(2, "eth0"), device(3, "eth1"), device(4, "eth2"), device(5, "eth3")});
    machine.addressed.insert(IfIndex{2});
    machine.links[IfIndex{3}].flags = 0;
    machine.speeds[IfIndex{4}] = machine.speeds[IfIndex{5}] = 1000;
    EXPECT_EQ(overview_text(machine),
              "No team runs on this machine.\n"
              "eth2  link, 1000 Mbit/s  free\n"
              "eth3  link, 1000 Mbit/s  free\n"
              "eth1  set down           free\n"
              "Not free: eth0 (has an address)\n"
              "Start, for example, as root, until the next boot (a port and its standby, at any switch):\n"
              "  teamd-offload -d -c '{\"device\": \"team0\", \"runner\": {\"name\": \"activebackup\"}, "
              "\"ports\": {\"eth2\": {}, \"eth3\": {}}}'\n"
              "More: man teamd-offload (EXAMPLES), teamoctl --help\n");
}

TEST(Overview, offers_to_steer_a_bond) {
    EXPECT_EQ(overview_text(with_bond(bond_mode_lacp)),
              "No team runs on this machine.\n"
              "bond0  bond 802.3ad, 2 of 2 slaves up, 2000 Mbit/s  gains: balance by load, failover by the "
              "next packet\n"
              "Start, as root (bond0 keeps its mode, slaves and addresses):\n"
              "  teamd-offload -d --attach -t bond0\n"
              "More: man teamd-offload (EXAMPLES), teamoctl --help\n");
    auto installed = with_bond(bond_mode_xor);
    installed.has_unit = true;
    EXPECT_EQ("systemctl enable --now teamd-offload@bond0", start_command(installed));
    EXPECT_THAT(overview_text(with_bond(bond_mode_active_backup)),
                HasSubstr("bond active-backup, 2 of 2 slaves up, 2000 Mbit/s  gains: failover by the next "
                          "packet\n"));
}

TEST(Overview, says_of_a_bond_that_would_be_watched_why) {
    const BondMode broadcast = 3;
    const auto machine = with_bond(broadcast);
    EXPECT_THAT(overview_text(machine),
                HasSubstr("  only watched: bonding chooses the slaves: its mode is broadcast\n"));
    EXPECT_EQ("", start_command(machine));
}

TEST(Overview, takes_only_free_cards_as_ports) {
    auto vlan = device(20, "eth2.7", "vlan");
    vlan.lower = IfIndex{4};
    auto of_a_team = device(6, "eth4");
    of_a_team.altnames = {"teamo-port-team0-1"};
    const auto machine =
        machine_with({device(2, "eth0"), slave(3, "eth1", IfIndex{30}), device(4, "eth2"), vlan, of_a_team,
                      device(30, "br0", "bridge"), device(31, "veth9", "veth")});
    ASSERT_THAT(free_ports(machine), SizeIs(1));
    EXPECT_EQ("eth0", free_ports(machine).front()->name);
    EXPECT_EQ("", start_command(machine)); // a team is there, and one port is none
    EXPECT_THAT(overview_text(machine), HasSubstr("Not free: eth2 (is below eth2.7)\n"));
}

TEST(Overview, takes_veths_where_there_is_no_card) {
    const auto machine = machine_with({device(2, "eth0", "veth"), device(3, "eth1", "veth")});
    EXPECT_THAT(start_command(machine), HasSubstr("{\"eth0\": {}, \"eth1\": {}}"));
}

TEST(Overview, shows_the_teams_that_run) {
    auto machine = machine_with({device(2, "eth0"), device(3, "eth1"), bond(9, "bond0", bond_mode_lacp)});
    SeenTeam team{.name = "team0", .state = good_team()};
    team.state->ports[1].transmits = false;
    SeenTeam attached{.name = "bond0", .state = good_team()};
    attached.state->attached.emplace();
    attached.state->attached->mode = "802.3ad";
    machine.teams = {attached, team, {.name = "team7", .why = "does not run: a bad file"}};
    EXPECT_THAT(overview_text(machine),
                AllOf(StartsWith("bond0  bond 802.3ad      runs: 4 of 4 ports carry\n"
                                 "team0  team loadbalance  runs: 3 of 4 ports carry\n"
                                 "team7  team              does not run: a bad file\n"),
                      HasSubstr("\nMore: teamoctl bond0 state,"), Not(HasSubstr("Start"))));
}

TEST(Overview, says_that_a_team_is_set_down) {
    auto team = device(9, "team0", "veth");
    team.altnames = {"teamo-team-team0"};
    team.flags = 0;
    auto machine = machine_with({team});
    machine.teams = {{.name = "team0", .state = good_team()}};
    EXPECT_THAT(overview_text(machine), HasSubstr("carry; it is set down: ip link set team0 up\n"));
}

TEST(Overview, does_not_call_a_team_absent_that_it_may_not_ask) {
    auto team = device(9, "team0", "veth");
    team.altnames = {"teamo-team-team0"};
    auto machine = machine_with({device(2, "eth0"), device(3, "eth1"), team});
    EXPECT_THAT(overview_text(machine),
                AllOf(StartsWith("team0  team  carries on, without a daemon\n"), Not(HasSubstr("Start"))));
    machine.silence = "only root and the group teamd-offload may ask";
    EXPECT_THAT(overview_text(machine),
                StartsWith("Which daemons run is not known: only root and the group teamd-offload may ask.\n"
                           "team0  team  carries on\n"));
}

TEST(Overview, has_at_most_15_lines) {
    auto machine = with_bond(bond_mode_lacp);
    for (std::uint32_t number = 10; number < 600; ++number) {
        const IfIndex index{number};
        machine.links[index] = device(number, "eth" + std::to_string(number));
        if (number % 2 == 0) machine.addressed.insert(index);
    }
    machine.silence = "only root may ask";
    const auto text = overview_text(machine);
    EXPECT_THAT(lines_of(text), SizeIs(testing::Le(15))) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("\nand 288 more\n"), HasSubstr("eth20 (has an address), 289 more\n")));
}

TEST(Overview, of_a_machine_with_nothing) {
    EXPECT_EQ(overview_text(machine_with({})), "No team runs on this machine.\n"
                                               "It has no bond, and no port that is free.\n"
                                               "More: man teamd-offload (EXAMPLES), teamoctl --help\n");
}

} // namespace
} // namespace teamo::ctl
