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
    const auto may = may_join(links, link, "team0");
    return may ? "" : may.error().text;
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
    auto vlan = device(2, "team0.5");
    vlan.kind = "vlan";
    vlan.lower = team.index;
    auto macvlan = device(3, "mv0");
    macvlan.kind = "macvlan";
    macvlan.lower = vlan.index;
    EXPECT_THAT(reason(all({team, vlan, macvlan}), macvlan), HasSubstr("is built on team0"));
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
