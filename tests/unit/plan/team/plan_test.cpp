// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/make_plan.h"

#include <gmock/gmock.h>
#include <linux/if.h>

#include <random>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex team{10}, inner{9}, eth1{1}, eth2{2};
const MacAddress team_mac{{2, 0, 0, 0, 0, 10}}, mac1{{2, 0, 0, 0, 0, 1}}, mac2{{2, 0, 0, 0, 0, 2}};

Link link_of(IfIndex index, MacAddress address) {
    Link link;
    link.index = index;
    link.name = "dev" + std::to_string(index.value);
    link.address = address;
    link.mtu = index == inner ? inner_mtu : 1500;
    link.flags = IFF_UP;
    return link;
}

struct Case {
    RunnerConfig runner;
    Link device = link_of(team, team_mac);
    PlanInput input() const {
        PlanInput input{.runner = &runner,
                        .team = &device,
                        .members = {{.index = eth1, .slot = Slot{1}, .own_address = mac1},
                                    {.index = eth2, .slot = Slot{2}, .own_address = mac2}},
                        .owners = {}};
        input.tables.inner = inner;
        return input;
    }
};

const Decision both{.transmit = {eth1, eth2}, .receive = {eth1, eth2}, .active = {}};
const Decision only_second{.transmit = {eth2}, .receive = {eth2}, .active = eth2};
const Decision none{};

TEST(TeamPlan, loadbalance_gives_ports_address_and_mtu_of_team) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.mtu = 9000;
    const auto plan = make_plan(one.input(), both);
    ASSERT_EQ(plan.ports.size(), 2U);
    for (const auto& port : plan.ports) {
        EXPECT_EQ(port.address, team_mac);
        EXPECT_EQ(port.mtu, 9000U);
        EXPECT_FALSE(port.promiscuous);
    }
    EXPECT_TRUE(plan.carrier);
    EXPECT_EQ(plan.tables.transmit, 0b110U);
    EXPECT_EQ(plan.tables.mode, TransmitMode::hash);
    EXPECT_EQ(plan.tables.hash_fields, default_tx_hash);
}

TEST(TeamPlan, cpu_hash_assumes_drain_time_of_unknown_queue) {
    using namespace std::chrono_literals;
    const Case one{.runner =
                       LoadBalanceRunner{.tx_hash = HashField::cpu | HashField::ipv4, .tx_balancer = {}}};
    auto input = one.input();
    input.tables.cpu_slots = {Slot{2}, Slot{1}};
    input.tables.drain[2] = 300ms;
    const auto tables = make_plan(input, both).tables;
    EXPECT_EQ(tables.cpu_slots, input.tables.cpu_slots);
    EXPECT_EQ(tables.drain[1], 20ms);
    EXPECT_EQ(tables.drain[2], 300ms);
    EXPECT_EQ(tables.drain[3], 0ms);
    const Case by_flow{.runner = LoadBalanceRunner{}};
    input.runner = &by_flow.runner;
    EXPECT_EQ(make_plan(input, both).tables.cpu_slots, std::vector<Slot>{});
}

TEST(TeamPlan, backup_is_on_standby_if_it_accepts_frames_for_the_team) {
    const Decision first_active{.transmit = {eth1}, .receive = {eth1}, .standby = {eth2}, .active = eth1};
    Case one{.runner = ActiveBackupRunner{}};
    EXPECT_EQ(make_plan(one.input(), first_active).tables.standby, (Preference{Slot{2}}));
    for (const auto policy : {HwaddrPolicy::by_active, HwaddrPolicy::only_active}) {
        one.runner = ActiveBackupRunner{.hwaddr_policy = policy};
        EXPECT_EQ(make_plan(one.input(), first_active).tables.standby, Preference{});
    }
}

TEST(TeamPlan, counts_carrier_losses_of_ports_that_wait) {
    const Case one{.runner = LoadBalanceRunner{}};
    auto input = one.input();
    input.members[0].carrier_losses = input.members[1].carrier_losses = 7;
    input.members[1].waits = true;
    const auto tables = make_plan(input, both).tables;
    EXPECT_EQ(tables.waits, bit(Slot{2}));
    EXPECT_EQ(tables.carrier_losses[1], 0U);
    EXPECT_EQ(tables.carrier_losses[2], 7U);
}

TEST(TeamPlan, cpu_hash_has_bucket_per_cpu) {
    const Case one{.runner = LoadBalanceRunner{.tx_hash = HashFields{} | HashField::cpu, .tx_balancer = {}}};
    auto input = one.input();
    input.tables.cpu_slots = {Slot{2}, Slot{1}, Slot{2}};
    auto tables = make_plan(input, both).tables;
    EXPECT_EQ(leaves_by(tables, 0), Slot{2});
    EXPECT_EQ(leaves_by(tables, 1), Slot{1});
    EXPECT_EQ(leaves_by(tables, 2), Slot{2});
    EXPECT_EQ(leaves_by(tables, 200), tables.buckets[200][0]) << "no CPU of that number";
    tables = make_plan(input, only_second).tables;
    EXPECT_EQ(leaves_by(tables, 1), Slot{2});
}

TEST(TeamPlan, has_a_carrier_from_min_ports_on) {
    const Case one{.runner = RoundRobinRunner{}};
    auto input = one.input();
    input.min_ports = 2;
    EXPECT_TRUE(make_plan(input, both).carrier);
    EXPECT_FALSE(make_plan(input, only_second).carrier);
    EXPECT_EQ(make_plan(input, only_second).tables.transmit, 0b100U) << "its port carries what there is";
    auto with_standby = only_second;
    with_standby.standby = {eth1};
    EXPECT_TRUE(make_plan(input, with_standby).carrier) << "a port that stands by can carry";
    input.members[0].drained = true;
    EXPECT_FALSE(make_plan(input, with_standby).carrier) << "a drained one should not";
    input.members[0].drained = false;
    auto without_partner = only_second;
    without_partner.falls_back = true;
    EXPECT_TRUE(make_plan(input, without_partner).carrier);
    EXPECT_FALSE(make_plan(input, none).carrier);
}

TEST(TeamPlan, shares_buckets_by_weight) {
    const Case one{.runner = LoadBalanceRunner{}};
    auto input = one.input();
    input.members[0].weight = 3;
    const auto plan = make_plan(input, both);
    EXPECT_EQ(std::ranges::count(plan.owners, Slot{1}), 192);
    EXPECT_EQ(std::ranges::count(plan.owners, Slot{2}), 64);
}

TEST(TeamPlan, has_no_carrier_if_no_port_carries) {
    EXPECT_FALSE(make_plan(Case{.runner = LoadBalanceRunner{}}.input(), none).carrier);
}

TEST(TeamPlan, keeps_owners_when_link_fails) {
    const Case one{.runner = LoadBalanceRunner{}};
    const auto whole = make_plan(one.input(), both), failed = make_plan(one.input(), only_second);
    auto expected = whole.tables;
    expected.transmit = 0b100;
    expected.receive = 0b100;
    EXPECT_EQ(failed.tables, expected);
}

TEST(TeamPlan, has_no_ipv6_below_the_team_and_an_inner_end_for_every_packet) {
    const Case one{.runner = LoadBalanceRunner{}};
    auto port = link_of(eth1, team_mac), end = link_of(inner, {});
    port.flags |= IFF_ALLMULTI;
    const auto plan = make_plan(one.input(), both);
    EXPECT_THAT(changes({{eth1, port}, {inner, end}}, plan), IsEmpty());
    port.ipv6 = end.ipv6 = true;
    end.mtu = 1400;
    EXPECT_THAT(
        changes({{eth1, port}, {inner, end}}, plan),
        ElementsAre(Change{DisableIpv6{eth1}}, Change{DisableIpv6{inner}}, Change{SetMtu{inner, inner_mtu}}));
}

TEST(TeamPlan, limits_gso_to_smallest_port) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.gso_max = {65536, 65535};
    one.device.tso_max = {65536, 65535};
    auto input = one.input();
    input.members[0].gso_max = {65536, 65535};
    input.members[1].gso_max = {32768, 64};
    const SegmentLimits least{32768, 64};
    EXPECT_EQ(make_plan(input, both).gso_max, least);
    EXPECT_THAT(changes({{team, one.device}}, make_plan(input, both)),
                testing::Contains(Change{SetSegmentLimits{team, least}}));

    one.device.gso_max = input.limited_to = least;
    input.members.pop_back();
    EXPECT_EQ(make_plan(input, both).gso_max, (SegmentLimits{65536, 65535}));
    one.device.gso_max = {20000, 64}; // changed by the administrator
    EXPECT_EQ(make_plan(input, both).gso_max, (SegmentLimits{20000, 65535}));
}

TEST(TeamPlan, ignores_gso_limits_of_ports_without_tso) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.gso_max = {65536, 65535, 65536};
    one.device.tso_max = {524280, 65535, 524280};
    auto input = one.input();
    input.members[0].gso_max = {65536, 65535, 65536};
    input.members[1].gso_max = {16384, 16, 16384};
    input.members[1].segments = false;
    EXPECT_EQ(make_plan(input, both).gso_max, (SegmentLimits{65536, 65535, 65536}));
    input.members[0].segments = false; // no port with TSO is left
    EXPECT_EQ(make_plan(input, both).gso_max, (SegmentLimits{16384, 16, 16384}));
}

TEST(TeamPlan, raises_gso_size_if_every_tso_port_allows) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.gso_max = {65536, 65535, 65536};
    one.device.tso_max = {524280, 65535, 524280};
    auto input = one.input();
    input.members[0].gso_max = {185000, 65535, 150000};
    input.members[1].gso_max = {200000, 65535, 65536};
    const SegmentLimits big{185000, 65535, 65536};
    EXPECT_EQ(make_plan(input, both).gso_max, big);
    one.device.gso_max = input.limited_to = big;
    input.members[0].gso_max.size = 65536; // and back
    EXPECT_EQ(make_plan(input, both).gso_max, (SegmentLimits{65536, 65535, 65536}));
}

TEST(TeamPlan, makes_ports_promiscuous_while_team_is) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.promiscuity = 1;
    EXPECT_TRUE(make_plan(one.input(), both).ports[0].promiscuous);
}

TEST(TeamPlan, makes_ports_promiscuous_for_other_addresses) {
    const Case one{.runner = LoadBalanceRunner{}};
    auto input = one.input();
    input.other_addresses = true;
    EXPECT_TRUE(make_plan(input, both).ports[0].promiscuous);
}

TEST(TeamPlan, makes_only_tag_filtering_ports_promiscuous) {
    const Case one{.runner = LoadBalanceRunner{}};
    auto input = one.input();
    input.members[1].filters_tags = true;
    EXPECT_FALSE(make_plan(input, both).ports[1].promiscuous) << "the team takes no tags";
    input.tags = true;
    const auto plan = make_plan(input, both);
    EXPECT_FALSE(plan.ports[0].promiscuous);
    EXPECT_TRUE(plan.ports[1].promiscuous);
}

TEST(TeamPlan, follows_hwaddr_policy) {
    const auto with = [](HwaddrPolicy policy) {
        return make_plan(Case{.runner = ActiveBackupRunner{.hwaddr_policy = policy}}.input(), only_second);
    };
    const auto same_all = with(HwaddrPolicy::same_all);
    EXPECT_EQ(same_all.address, team_mac);
    EXPECT_EQ(same_all.ports[0].address, team_mac);
    EXPECT_EQ(same_all.ports[1].address, team_mac);
    const auto by_active = with(HwaddrPolicy::by_active);
    EXPECT_EQ(by_active.address, mac2);
    EXPECT_EQ(by_active.ports[0].address, mac1);
    EXPECT_EQ(by_active.ports[1].address, mac2);
    const auto only_active = with(HwaddrPolicy::only_active);
    EXPECT_EQ(only_active.address, team_mac);
    EXPECT_EQ(only_active.ports[0].address, mac1);
    EXPECT_EQ(only_active.ports[1].address, team_mac);
}

TEST(PlanChanges, is_empty_if_devices_are_as_planned) {
    const Case one{.runner = LoadBalanceRunner{}};
    const auto plan = make_plan(one.input(), both);
    Links links;
    for (auto link : {one.device, link_of(inner, {}), link_of(eth1, team_mac), link_of(eth2, team_mac)}) {
        if (link.index == eth1 || link.index == eth2) link.flags |= IFF_ALLMULTI;
        links.emplace(link.index, link);
    }
    EXPECT_THAT(changes(links, plan), IsEmpty());
}

TEST(PlanChanges, sets_mtu_then_filters_then_address_then_carrier) {
    Case one{.runner = LoadBalanceRunner{}};
    one.device.mtu = 9000;
    auto down = link_of(inner, {});
    down.flags = 0;
    const Links links{{team, one.device}, {inner, down}, {eth1, link_of(eth1, mac1)}};
    EXPECT_THAT(changes(links, make_plan(one.input(), both)),
                ElementsAre(Change{SetMtu{eth1, 9000}},
                            Change{SetFlags{eth1, IFF_ALLMULTI, IFF_PROMISC | IFF_ALLMULTI}},
                            Change{SetAddress{eth1, team_mac}}, Change{SetFlags{inner, IFF_UP, IFF_UP}}));
}

/// RUNNING follows the carrier when linkwatch has run.
TEST(PlanChanges, compares_the_carrier_and_not_what_linkwatch_makes_of_it) {
    Case one{.runner = LoadBalanceRunner{}};
    auto input = one.input();
    input.sets_carrier = true;
    const auto list = [&](std::uint32_t flags, const Decision& decision) {
        one.device.flags = IFF_UP | flags;
        return changes({{team, one.device}}, make_plan(input, decision));
    };
    EXPECT_THAT(list(IFF_LOWER_UP, both), IsEmpty());
    EXPECT_THAT(list(IFF_RUNNING, both), ElementsAre(Change{SetCarrier{team, true}}));
    EXPECT_THAT(list(IFF_RUNNING, none), IsEmpty());
    EXPECT_THAT(list(IFF_LOWER_UP, none), ElementsAre(Change{SetCarrier{team, false}}));
}

/// Applies the changes to the map, like the kernel.
void carry_out(Links& links, const std::vector<Change>& list) {
    for (const auto& change : list) {
        if (const auto* mtu = std::get_if<SetMtu>(&change)) links.at(mtu->device).mtu = mtu->to;
        if (const auto* ipv6 = std::get_if<DisableIpv6>(&change)) links.at(ipv6->device).ipv6 = false;
        if (const auto* mac = std::get_if<SetAddress>(&change)) links.at(mac->device).address = mac->to;
        if (const auto* set = std::get_if<SetFlags>(&change)) {
            auto& flags = links.at(set->device).flags;
            flags = (flags & ~set->mask) | set->flags;
        }
    }
}

TEST(PlanChanges, reaches_plan_from_any_state) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 engine(seed);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    for (int round = 0; round < 2000; ++round) {
        Case one{.runner = ActiveBackupRunner{.hwaddr_policy = static_cast<HwaddrPolicy>(random() % 3)}};
        one.device.mtu = 68 + random() % 9000;
        one.device.promiscuity = random() % 2;
        Links links{{team, one.device}};
        for (const auto index : {inner, eth1, eth2}) {
            auto link = link_of(index, random() % 2 != 0 ? mac1 : team_mac);
            link.mtu = 68 + random() % 9000;
            link.ipv6 = random() % 2 != 0;
            link.flags = random() & (IFF_UP | IFF_PROMISC | IFF_ALLMULTI);
            links.emplace(index, link);
        }
        const auto plan = make_plan(one.input(), random() % 2 != 0 ? only_second : none);
        carry_out(links, changes(links, plan));
        ASSERT_THAT(changes(links, plan), IsEmpty());
    }
}

} // namespace
} // namespace teamo
