// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/offload_plan.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr auto keep = OffloadWish::keep, require = OffloadWish::require, off = OffloadWish::off;

/// A card with TSO and what it needs, all of it switchable.
const FeatureNames of_a_card{"rx-checksum",
                             "rx-gro",
                             "tx-checksum-ip-generic",
                             "tx-generic-segmentation",
                             "tx-scatter-gather",
                             "tx-tcp-segmentation",
                             "tx-tcp6-segmentation"};

FeatureNames without(FeatureNames names, const FeatureNames& some) {
    for (const auto& name : some)
        names.erase(name);
    return names;
}

struct Card {
    OffloadContract contract{};
    OffloadPlanInput input{.contract = &contract,
                           .features = {of_a_card, of_a_card, of_a_card},
                           .kept = of_a_card,
                           .in_team = {}};
    Card() = default;
    Card(const Card&) = delete;
    Card& operator=(const Card&) = delete;
    OffloadPlan plan() const { return plan_offloads(input); }
};

TEST(OffloadPlan, keeps_active_offloads_on) {
    const Card card;
    FeatureNames on;
    for (const auto& [name, state] : card.plan().settings)
        if (state) on.insert(name);
    EXPECT_EQ(of_a_card, on);
    EXPECT_THAT(card.plan().required, IsEmpty());
}

TEST(OffloadPlan, leaves_inactive_offloads_alone) {
    Card card;
    card.input.kept = without(of_a_card, {"rx-gro"});
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("rx-gro"))));
}

TEST(OffloadPlan, requires_tso_of_every_port_if_one_has_it) {
    Card card;
    card.input.kept = card.input.features.active = without(of_a_card, {"tx-tcp-segmentation"});
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Contains(Pair("tx-tcp-segmentation", true)));
    EXPECT_THAT(card.plan().required, ElementsAre("tx-tcp-segmentation"));
    EXPECT_THAT(lacking(card.plan(), card.input.features), ElementsAre("tx-tcp-segmentation"));
}

/// r8169: at the user's own risk.
TEST(OffloadPlan, leaves_tso_off_that_its_driver_leaves_off) {
    EXPECT_TRUE(distrusts_tso("r8169"));
    EXPECT_FALSE(distrusts_tso("e1000e"));
    Card card;
    card.input.distrusts_tso = true;
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().required, ElementsAre("tx-tcp-segmentation")) << "somebody has switched it on";
    card.input.kept = card.input.features.active = without(of_a_card, {"tx-tcp-segmentation"});
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-tcp-segmentation"))));
    EXPECT_THAT(card.plan().required, IsEmpty());
    card.contract.wishes = {{"tx-tcp-segmentation", require}};
    EXPECT_THAT(card.plan().settings, Contains(Pair("tx-tcp-segmentation", true)));
}

TEST(OffloadPlan, reports_unswitchable_offload_as_lacking) {
    Card card;
    card.input.features.active = card.input.kept = without(of_a_card, {"tx-tcp-segmentation"});
    card.input.features.changeable = without(of_a_card, {"tx-tcp-segmentation"});
    card.contract.wishes = {{"tx-tcp-segmentation", require}};
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-tcp-segmentation"))));
    EXPECT_THAT(lacking(card.plan(), card.input.features), ElementsAre("tx-tcp-segmentation"));
}

TEST(OffloadPlan, switches_off_on_request) {
    Card card;
    card.contract.wishes = {{"tx-tcp-segmentation", off}, {"rx-gro", keep}};
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Contains(Pair("tx-tcp-segmentation", false)));
    EXPECT_THAT(card.plan().settings, Contains(Pair("rx-gro", true)));
    EXPECT_THAT(card.plan().required, IsEmpty());
}

TEST(OffloadPlan, leaves_out_offloads_that_need_disabled_ones) {
    Card card;
    card.contract.wishes = {{"tx-scatter-gather", off}};
    card.input.in_team = {"tx-tcp-segmentation"};
    const auto plan = card.plan();
    EXPECT_THAT(plan.settings, Contains(Pair("tx-scatter-gather", false)));
    for (const auto* name : {"tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-generic-segmentation"})
        EXPECT_THAT(plan.settings, Not(Contains(Key(name)))) << name;
    EXPECT_THAT(plan.required, IsEmpty());
}

TEST(OffloadPlan, leaves_out_offloads_that_need_missing_ones) {
    Card card;
    card.input.features.changeable = card.input.features.active =
        without(of_a_card, {"tx-checksum-ip-generic"});
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-tcp-segmentation"))));
    EXPECT_THAT(card.plan().required, ElementsAre("tx-tcp-segmentation"))
        << "a card without it is no exception";
}

TEST(OffloadPlan, switches_on_what_an_offload_needs) {
    Card card;
    card.input.kept = card.input.features.active =
        without(of_a_card, {"tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation",
                            "tx-tcp6-segmentation", "tx-generic-segmentation"});
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-scatter-gather"))));
    card.input.in_team = {"tx-tcp-segmentation"};
    for (const auto* name : {"tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation"})
        EXPECT_THAT(card.plan().settings, Contains(Pair(name, true)));
}

TEST(OffloadPlan, switches_lro_off_while_forwarding) {
    Card card;
    card.input.features.active.insert("rx-lro");
    card.input.features.changeable.insert("rx-lro");
    card.input.kept.insert("rx-lro");
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("rx-lro"))));
    card.input.forwards = true;
    EXPECT_THAT(card.plan().settings, Contains(Pair("rx-lro", false)));
    card.contract.wishes = {{"rx-lro", keep}};
    EXPECT_THAT(card.plan().settings, Contains(Pair("rx-lro", true)));
}

TEST(OffloadPlan, lists_tso_features_that_port_may_keep) {
    const Features features{of_a_card, of_a_card, of_a_card};
    OffloadContract contract;
    EXPECT_THAT(tso_of(contract, of_a_card, features),
                ElementsAre("tx-tcp-segmentation", "tx-tcp6-segmentation"));
    // Switched off by another program for now: the port still supports it.
    EXPECT_THAT(tso_of(contract, of_a_card, {{}, {}, of_a_card}),
                ElementsAre("tx-tcp-segmentation", "tx-tcp6-segmentation"));
    contract.wishes = {{"tx-tcp-segmentation", off}};
    EXPECT_THAT(tso_of(contract, of_a_card, features), ElementsAre("tx-tcp6-segmentation"));
}

TEST(OffloadPlan, expands_ethtool_names) {
    EXPECT_THAT(offloads_named("tso"), Contains("tx-tcp6-segmentation"));
    EXPECT_THAT(offloads_named("tcp-segmentation-offload"), Contains("tx-tcp-segmentation"));
    EXPECT_THAT(offloads_named("tx-udp-segmentation"), ElementsAre("tx-udp-segmentation"));
    EXPECT_THAT(offloads_named("rx-vlan-filter"), IsEmpty());
    for (const auto name : offload_names())
        for (const auto feature : offloads_named(name))
            EXPECT_NE(nullptr, find_offload(feature)) << name;
}

} // namespace
} // namespace teamo
