// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/offloads.h"

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

TEST(Offloads, that_were_on_stay_on_without_a_word) {
    const Card card;
    FeatureNames on;
    for (const auto& [name, state] : card.plan().settings)
        if (state) on.insert(name);
    EXPECT_EQ(of_a_card, on);
    EXPECT_THAT(card.plan().required, IsEmpty());
}

TEST(Offloads, that_were_off_are_left_alone) {
    Card card;
    card.input.kept = without(of_a_card, {"rx-gro"});
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("rx-gro"))));
}

TEST(Offloads, of_tso_are_required_of_every_port_where_one_has_them) {
    Card card;
    card.input.kept = card.input.features.active = without(of_a_card, {"tx-tcp-segmentation"});
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Contains(Pair("tx-tcp-segmentation", true)));
    EXPECT_THAT(card.plan().required, ElementsAre("tx-tcp-segmentation"));
    EXPECT_THAT(lacking(card.plan(), card.input.features), ElementsAre("tx-tcp-segmentation"));
}

TEST(Offloads, that_a_driver_cannot_switch_are_only_missed) {
    Card card;
    card.input.features.active = card.input.kept = without(of_a_card, {"tx-tcp-segmentation"});
    card.input.features.changeable = without(of_a_card, {"tx-tcp-segmentation"});
    card.contract.wishes = {{"tx-tcp-segmentation", require}};
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-tcp-segmentation"))));
    EXPECT_THAT(lacking(card.plan(), card.input.features), ElementsAre("tx-tcp-segmentation"));
}

TEST(Offloads, are_switched_off_where_that_is_asked) {
    Card card;
    card.contract.wishes = {{"tx-tcp-segmentation", off}, {"rx-gro", keep}};
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Contains(Pair("tx-tcp-segmentation", false)));
    EXPECT_THAT(card.plan().settings, Contains(Pair("rx-gro", true)));
    EXPECT_THAT(card.plan().required, IsEmpty());
}

TEST(Offloads, that_need_what_shall_be_off_are_not_asked_for) {
    Card card;
    card.contract.wishes = {{"tx-scatter-gather", off}};
    card.input.in_team = {"tx-tcp-segmentation"};
    const auto plan = card.plan();
    EXPECT_THAT(plan.settings, Contains(Pair("tx-scatter-gather", false)));
    for (const auto* name : {"tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-generic-segmentation"})
        EXPECT_THAT(plan.settings, Not(Contains(Key(name)))) << name;
    EXPECT_THAT(plan.required, IsEmpty());
}

TEST(Offloads, that_need_what_the_card_has_not_are_not_asked_for) {
    Card card;
    card.input.features.changeable = card.input.features.active =
        without(of_a_card, {"tx-checksum-ip-generic"});
    card.input.in_team = {"tx-tcp-segmentation"};
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-tcp-segmentation"))));
    EXPECT_THAT(card.plan().required, ElementsAre("tx-tcp-segmentation"))
        << "the poorest card is no exception";
}

TEST(Offloads, that_need_what_was_off_bring_it_with_them) {
    Card card;
    card.input.kept = card.input.features.active =
        without(of_a_card, {"tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation",
                            "tx-tcp6-segmentation", "tx-generic-segmentation"});
    EXPECT_THAT(card.plan().settings, Not(Contains(Key("tx-scatter-gather"))));
    card.input.in_team = {"tx-tcp-segmentation"};
    for (const auto* name : {"tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation"})
        EXPECT_THAT(card.plan().settings, Contains(Pair(name, true)));
}

TEST(Offloads, of_lro_are_off_where_frames_are_sent_on_and_nobody_asks_for_them) {
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

TEST(Offloads, of_tso_in_a_team_are_those_that_a_port_has_and_may_keep) {
    const Features features{of_a_card, of_a_card, of_a_card};
    OffloadContract contract;
    EXPECT_THAT(tso_of(contract, of_a_card, features),
                ElementsAre("tx-tcp-segmentation", "tx-tcp6-segmentation"));
    // Switched off by somebody else for the moment: the port has it all the same.
    EXPECT_THAT(tso_of(contract, of_a_card, {{}, {}, of_a_card}),
                ElementsAre("tx-tcp-segmentation", "tx-tcp6-segmentation"));
    contract.wishes = {{"tx-tcp-segmentation", off}};
    EXPECT_THAT(tso_of(contract, of_a_card, features), ElementsAre("tx-tcp6-segmentation"));
}

TEST(OffloadNames, of_ethtool_stand_for_several) {
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
