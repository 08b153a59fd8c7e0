// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/membership.h"

#include "model/observation.h"

#include <gmock/gmock.h>
#include <linux/if.h>
#include <linux/if_arp.h>

namespace teamo {
namespace {

using testing::HasSubstr;
using testing::Optional;

Link device(std::uint32_t index, std::string name) {
    Link link;
    link.index = IfIndex{index};
    link.name = std::move(name);
    link.type = ARPHRD_ETHER;
    return link;
}

Links all(std::initializer_list<Link> list) {
    Links links;
    for (const auto& link : list)
        links.emplace(link.index, link);
    return links;
}

std::string reason(const Links& links, const Link& link) {
    const auto may = may_join(links, link, "team0", Takes::all);
    return may ? "" : may.error().text;
}

Link upper(std::uint32_t index, std::string name, std::string kind, const Link& lower) {
    auto link = device(index, std::move(name));
    link.kind = std::move(kind);
    link.lower = lower.index;
    return link;
}

TEST(Membership, accepts_ethernet_device) {
    const auto eth = device(1, "eth1");
    EXPECT_EQ(reason(all({eth}), eth), "");
}

TEST(Membership, accepts_port_with_own_mark) {
    auto eth = device(1, "eth1");
    eth.altnames = {port_mark("team0", Slot{3})};
    EXPECT_EQ(reason(all({eth}), eth), "");
}

TEST(Membership, rejects_non_ethernet_device) {
    auto tunnel = device(1, "tun0");
    tunnel.type = ARPHRD_NONE;
    EXPECT_THAT(reason(all({tunnel}), tunnel), HasSubstr("is not an Ethernet device"));
    auto loopback = device(2, "lo");
    loopback.flags = IFF_LOOPBACK;
    EXPECT_THAT(reason(all({loopback}), loopback), HasSubstr("is not an Ethernet device"));
}

TEST(Membership, rejects_port_of_other_master_with_advice) {
    const auto bridge = device(2, "br0");
    auto eth = device(1, "eth1");
    eth.master = bridge.index;
    EXPECT_EQ(reason(all({eth, bridge}), eth),
              "is a port of br0 already; release it first: ip link set eth1 nomaster");
}

TEST(Membership, rejects_port_of_other_team) {
    auto eth = device(1, "eth1");
    eth.altnames = {port_mark("team-1", Slot{2})};
    EXPECT_THAT(reason(all({eth}), eth), HasSubstr("is a port of team team-1 already"));
}

TEST(Membership, rejects_aggregates) {
    auto bond = device(1, "bond0");
    bond.kind = "bond";
    EXPECT_THAT(reason(all({bond}), bond), HasSubstr("is itself an aggregate (bond)"));
    auto team = device(2, "team1");
    team.altnames = {team_mark("team1")};
    EXPECT_THAT(reason(all({team}), team), HasSubstr("is itself an aggregate (of team team1)"));
    auto inner = device(3, "tmo0");
    inner.altnames = {inner_mark("team1")};
    EXPECT_THAT(reason(all({inner}), inner), HasSubstr("is itself an aggregate"));
}

TEST(Membership, rejects_device_stacked_on_team) {
    auto team = device(1, "team0");
    team.altnames = {team_mark("team0")};
    const auto vlan = upper(2, "team0.5", "vlan", team);
    const auto macvlan = upper(3, "mv0", "macvlan", vlan);
    EXPECT_THAT(reason(all({team, vlan, macvlan}), macvlan), HasSubstr("is built on team0"));
}

TEST(Membership, rejects_bridge_that_has_the_team_below_it) {
    auto team = device(1, "team0");
    team.altnames = {team_mark("team0")};
    auto vlan = upper(2, "team0.5", "vlan", team);
    auto bridge = device(3, "br0");
    bridge.kind = "bridge";
    auto above = upper(4, "br0.7", "vlan", bridge);
    team.master = bridge.index;
    EXPECT_THAT(reason(all({team, vlan, bridge, above}), bridge), HasSubstr("is built on team0"));
    EXPECT_THAT(reason(all({team, vlan, bridge, above}), above), HasSubstr("is built on team0"));
    team.master = {};
    EXPECT_EQ(reason(all({team, vlan, bridge}), bridge), "");
    vlan.master = bridge.index;
    EXPECT_THAT(reason(all({team, vlan, bridge}), bridge), HasSubstr("is built on team0"));
}

TEST(Membership, rejects_device_that_others_use) {
    const auto eth = device(1, "eth1"), other = device(2, "eth2");
    const auto macvlan = upper(3, "mv0", "macvlan", eth), vlan = upper(4, "eth1.7", "vlan", eth);
    EXPECT_EQ(reason(all({eth, other, macvlan}), other), "");
    const auto may = may_join(all({eth, macvlan, vlan}), eth, "team0", Takes::all);
    ASSERT_FALSE(may);
    EXPECT_EQ(may.error().number, EBUSY) << "tried again";
    EXPECT_EQ(may.error().text,
              "carries mv0 (macvlan), eth1.7 (vlan), which would receive nothing; move it to "
              "team0, or remove it: ip link del mv0");
    EXPECT_TRUE(may_join(all({eth, vlan}), eth, "team0", Takes::untagged))
        << "the kernel's drivers leave them";
    auto elsewhere = macvlan;
    elsewhere.lower_elsewhere = true;
    EXPECT_EQ(reason(all({eth, elsewhere}), eth), "") << "it stands on a device of another namespace";
}

TEST(Membership, rejects_device_with_the_address_of_another) {
    const auto eth = device(1, "eth1");
    EXPECT_TRUE(has_no_user_elsewhere(eth, {}));
    const auto may = has_no_user_elsewhere(eth, {MacAddress{{2, 0, 0, 0, 0, 7}}});
    ASSERT_FALSE(may);
    EXPECT_EQ(may.error().number, EBUSY);
    EXPECT_THAT(may.error().text, HasSubstr("bridge fdb del 02:00:00:00:00:07 dev eth1 self"));
}

TEST(SharedAddress, is_that_of_a_device_outside_the_team) {
    const MacAddress address{{2, 0, 0, 0, 0, 9}};
    auto team = device(1, "team0"), port = device(2, "eth1"), other = device(3, "eth2");
    port.altnames = {port_mark("team0", Slot{1})};
    auto above = upper(4, "team0.5", "vlan", team), on_port = upper(5, "eth1.5", "vlan", port);
    auto bridge = device(6, "br0"), below = device(7, "eth3"), far = device(8, "eth4");
    bridge.kind = "bridge";
    team.master = bridge.index;
    port.kind = "vlan";
    port.lower = below.index;
    far.altnames = {port_mark("team1", Slot{1})}; // team1 itself is named
    Links links;
    for (auto* link : {&team, &port, &other, &above, &on_port, &bridge, &below, &far}) {
        link->address = address;
        link->flags = IFF_UP;
        links.emplace(link->index, *link);
    }
    std::vector<const Link*> same;
    for (const auto& [index, link] : links)
        same.push_back(&link);
    EXPECT_THAT(sharing_address(links, team, same), testing::ElementsAre(&links.at(other.index)));
    links.at(other.index).flags = 0;
    EXPECT_THAT(sharing_address(links, team, same), testing::IsEmpty());
}

TEST(Membership, does_not_take_veth_peer_for_lower_device) {
    auto team = device(1, "team0"), inner = device(2, "tmo0");
    team.altnames = {team_mark("team0")};
    team.kind = inner.kind = "veth";
    team.lower = inner.index;
    inner.lower = team.index;
    auto eth = device(3, "eth1"), far = device(4, "p1");
    eth.kind = far.kind = "veth";
    eth.lower = far.index;
    far.lower = eth.index;
    EXPECT_EQ(reason(all({team, inner, eth, far}), eth), "");
}

TEST(Membership, reads_team_and_slot_from_mark) {
    auto eth = device(1, "eth1");
    eth.altnames = {"enp3s0", port_mark("my-team-2", Slot{8})};
    EXPECT_THAT(port_mark_of(eth), Optional(PortMark{.team = "my-team-2", .slot = Slot{8}}));
    for (const auto* name :
         {"teamo-port-", "teamo-port-team0", "teamo-port-team0-", "teamo-port-team0-0", "teamo-port-team0-9",
          "teamo-port-team0-12", "teamo-port--1", "teamo-portteam0-1"}) {
        eth.altnames = {name};
        EXPECT_EQ(port_mark_of(eth), std::nullopt) << name;
    }
}

TEST(ConfiguredName, is_own_name_before_alternative_one) {
    auto eth = device(1, "eth1");
    eth.altnames = {"lan-a", "lan-b"};
    TeamConfig config;
    config.ports = {{"lan-b", {}}};
    EXPECT_EQ(configured_name(config, eth), "lan-b");
    config.ports = {{"lan-b", {}}, {"eth1", {}}};
    EXPECT_EQ(configured_name(config, eth), "eth1");
    EXPECT_EQ(configured_name(config, device(2, "eth2")), "");
}

TEST(ConfiguredName, of_one_device_is_one) {
    auto eth = device(1, "eth1");
    eth.altnames = {"lan-a"};
    TeamConfig config;
    config.ports = {{"eth1", {}}, {"eth2", {}}, {"missing", {}}};
    EXPECT_TRUE(check_distinct(all({eth, device(2, "eth2")}), config));
    config.ports.emplace_back("lan-a", PortConfig{});
    const auto refused = check_distinct(all({eth, device(2, "eth2")}), config);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "ports eth1 and lan-a: are one device, eth1; remove one of them");
}

TEST(TeamName, is_no_alternative_name_of_another_device) {
    auto eth = device(1, "eth1");
    eth.altnames = {"team0"};
    EXPECT_TRUE(check_free(all({eth}), "team1"));
    EXPECT_TRUE(check_free(all({device(1, "team0")}), "team0"));
    const auto refused = check_free(all({eth}), "team0");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text, HasSubstr("ip link property del dev eth1 altname team0"));
}

/// Both ends of a pair just after RTM_NEWLINK.
Links new_pair() {
    auto team = device(5, "team0"), inner = device(4, "tmo0");
    team.kind = inner.kind = "veth";
    team.lower = inner.index;
    inner.lower = team.index;
    return all({team, inner});
}

TEST(HalfMadeTeam, is_pair_whose_inner_end_has_our_mark) {
    auto links = new_pair();
    EXPECT_FALSE(is_half_made(links, "team0", false)) << "another program may have made it";
    links.at(IfIndex{4}).altnames = {inner_mark("team0")};
    EXPECT_TRUE(is_half_made(links, "team0", false));
    EXPECT_FALSE(is_half_made(links, "team1", false));
    links.at(IfIndex{5}).altnames = {team_mark("team0")};
    EXPECT_FALSE(is_half_made(links, "team0", true)) << "it is complete";
}

TEST(HalfMadeTeam, is_unused_device_named_by_journal) {
    auto links = new_pair();
    EXPECT_TRUE(is_half_made(links, "team0", true));
    auto& team = links.at(IfIndex{5});
    team.flags = IFF_UP;
    EXPECT_FALSE(is_half_made(links, "team0", true)) << "another program has set it up";
    team.flags = 0;
    links.at(IfIndex{4}).name = "other";
    EXPECT_FALSE(is_half_made(links, "team0", true));
    links = all({device(5, "team0")});
    links.at(IfIndex{5}).kind = "bridge";
    EXPECT_FALSE(is_half_made(links, "team0", true));
    links.at(IfIndex{5}).kind = "team";
    EXPECT_TRUE(is_half_made(links, "team0", true));
    auto port = device(6, "eth1");
    port.master = IfIndex{5};
    links.emplace(port.index, port);
    EXPECT_FALSE(is_half_made(links, "team0", true));
    EXPECT_FALSE(is_half_made({}, "team0", true));
}

} // namespace
} // namespace teamo
