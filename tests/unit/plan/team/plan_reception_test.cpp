// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/make_plan.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Link device_of_kind(std::uint32_t index, std::string kind, const Link* below = nullptr) {
    Link link;
    link.index = IfIndex{index};
    link.name = "dev" + std::to_string(index);
    link.kind = std::move(kind);
    if (below != nullptr) link.lower = below->index;
    return link;
}

bool tags(Link team, std::initializer_list<Link> others) {
    Links links{{team.index, team}};
    for (const auto& link : others)
        links.emplace(link.index, link);
    std::set<IfIndex> above;
    for (const auto& [index, link] : links)
        if (stands_on(links, link, team)) above.insert(index);
    return takes_tags(links, team, above);
}

TEST(Reception, takes_tags_for_vlan_device_at_any_depth) {
    const auto team = device_of_kind(1, "veth");
    EXPECT_FALSE(tags(team, {}));
    EXPECT_TRUE(tags(team, {device_of_kind(2, "vlan", &team)}));
    const auto macvlan = device_of_kind(2, "macvlan", &team);
    EXPECT_FALSE(tags(team, {macvlan}));
    EXPECT_TRUE(tags(team, {macvlan, device_of_kind(3, "vlan", &macvlan)}));
    const auto outer = device_of_kind(2, "vlan", &team);
    EXPECT_TRUE(tags(team, {outer, device_of_kind(3, "vlan", &outer)})) << "QinQ";
}

TEST(Reception, takes_no_tags_for_vlan_device_elsewhere) {
    const auto team = device_of_kind(1, "veth"), other = device_of_kind(2, "");
    EXPECT_FALSE(tags(team, {other, device_of_kind(3, "vlan", &other)}));
    auto foreign = device_of_kind(3, "vlan", &team);
    foreign.lower_elsewhere = true; // the number is another device's, in another namespace
    EXPECT_FALSE(tags(team, {foreign}));
}

TEST(Reception, takes_tags_for_bridge_but_not_for_vrf) {
    auto team = device_of_kind(1, "veth");
    team.master = IfIndex{2};
    EXPECT_TRUE(tags(team, {device_of_kind(2, "bridge")}));
    EXPECT_TRUE(tags(team, {})) << "of a kind that is not known";
    EXPECT_FALSE(tags(team, {device_of_kind(2, "vrf")}));
}

TEST(Reception, takes_addresses_other_than_own) {
    auto team = device_of_kind(1, "veth");
    team.address = {{2, 0, 0, 0, 0, 1}};
    EXPECT_FALSE(takes_other_addresses({}, team));
    EXPECT_FALSE(takes_other_addresses({team.address}, team));
    EXPECT_TRUE(takes_other_addresses({team.address, {{2, 0, 0, 0, 0, 2}}}, team));
}

TEST(Reception, switches_off_changeable_tag_filters) {
    const FeatureNames all{"rx-gro", "rx-lro", "rx-vlan-filter", "rx-vlan-stag-filter"};
    EXPECT_THAT(unwanted({.active = all, .wanted = all, .changeable = all}),
                ElementsAre(Pair("rx-vlan-filter", false), Pair("rx-vlan-stag-filter", false)));
    EXPECT_THAT(unwanted({.active = all, .wanted = all, .changeable = {"rx-gro"}}), IsEmpty());
    EXPECT_THAT(unwanted({.active = {"rx-gro"}, .wanted = all, .changeable = all}), IsEmpty());
}

TEST(Reception, recognises_both_tag_filters) {
    EXPECT_FALSE(filters_tags({.active = {"rx-lro"}, .wanted = {}, .changeable = {}}));
    EXPECT_TRUE(filters_tags({.active = {"rx-vlan-filter"}, .wanted = {}, .changeable = {}}));
    EXPECT_TRUE(filters_tags({.active = {"rx-vlan-stag-filter"}, .wanted = {}, .changeable = {}}));
}

} // namespace
} // namespace teamo
