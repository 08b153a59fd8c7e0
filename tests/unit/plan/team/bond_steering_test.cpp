// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/bond_steering.h"

#include <gtest/gtest.h>
#include <linux/if.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;

const Clock::time_point begun{1000s};
using View = BondSteering::View;

View bond(std::optional<BondPolicy> policy) {
    return {.mode = bond_mode_lacp, .policy = policy, .slaves = 4};
}

/// A bond with the policy layer2+3 that is steered since the start.
BondSteering steered() {
    BondSteering steering;
    steering.step(bond(BondPolicy::layer23), begun);
    steering.note_written(steering_policy);
    return steering;
}

TEST(BondSteering, sets_the_policy_when_the_program_is_there_and_puts_it_back) {
    BondSteering steering;
    steering.step(bond(BondPolicy::layer23), begun);
    EXPECT_EQ(Unsteered::nothing, steering.reason());
    EXPECT_EQ(std::nullopt, steering.to_write(/*attached=*/false));
    EXPECT_EQ(steering_policy, steering.to_write(/*attached=*/true));
    EXPECT_EQ(std::nullopt, steering.former());
    steering.note_written(steering_policy);
    steering.step(bond(steering_policy), begun);
    EXPECT_EQ(std::nullopt, steering.to_write(true));
    EXPECT_EQ(BondPolicy::layer23, steering.own_policy());
    EXPECT_EQ(BondPolicy::layer23, steering.former());
}

TEST(BondSteering, puts_back_what_its_owner_wrote_in_the_moment_before) {
    auto steering = steered();
    steering.note_overwritten(BondPolicy::vlan_srcmac);
    steering.step(bond(steering_policy), begun);
    EXPECT_EQ(Unsteered::policy, steering.reason());
    EXPECT_EQ(BondPolicy::vlan_srcmac, steering.to_write(true));
}

TEST(BondSteering, by_source_needs_balance_xor) {
    auto by_source = bond(BondPolicy::vlan_srcmac);
    by_source.mode = bond_mode_xor;
    BondSteering steering;
    steering.step(by_source, begun);
    EXPECT_EQ(Unsteered::policy, steering.reason());
    by_source.by_source = true;
    steering.step(by_source, begun);
    EXPECT_EQ(Unsteered::nothing, steering.reason());
    for (const auto mode : {bond_mode_lacp, bond_mode_active_backup}) {
        by_source.mode = mode;
        steering.step(by_source, begun);
        EXPECT_EQ(Unsteered::mode, steering.reason());
    }
}

TEST(BondSteering, writes_nothing_if_the_owner_has_chosen_that_policy) {
    BondSteering steering;
    steering.step(bond(steering_policy), begun);
    EXPECT_EQ(Unsteered::nothing, steering.reason());
    EXPECT_EQ(std::nullopt, steering.to_write(true));
    EXPECT_EQ(std::nullopt, steering.former());
    EXPECT_EQ(steering_policy, steering.own_policy());
}

TEST(BondSteering, continues_after_an_earlier_daemon) {
    BondSteering steering(BondPolicy::layer2);
    steering.step(bond(steering_policy), begun);
    EXPECT_EQ(BondPolicy::layer2, steering.own_policy());
    EXPECT_EQ(BondPolicy::layer2, steering.former());
    // While no daemon ran another program has written: that is the policy to come back to.
    BondSteering other(BondPolicy::layer2);
    other.step(bond(BondPolicy::layer34), begun);
    EXPECT_EQ(BondPolicy::layer34, other.own_policy());
    EXPECT_EQ(steering_policy, other.to_write(true));
}

TEST(BondSteering, sets_it_once_more_after_quiet_and_then_leaves_it) {
    auto steering = steered();
    steering.step(bond(BondPolicy::layer34), begun + 1min);
    EXPECT_EQ(Unsteered::waits, steering.reason());
    EXPECT_EQ(BondPolicy::layer34, steering.own_policy());
    EXPECT_EQ(std::nullopt, steering.to_write(true));
    EXPECT_EQ(begun + 1min + 2s, steering.deadline());
    // Quiet begins anew with another value.
    steering.step(bond(BondPolicy::layer2), begun + 1min + 1s);
    EXPECT_EQ(begun + 1min + 3s, steering.deadline());
    steering.step(bond(BondPolicy::layer2), begun + 1min + 3s);
    EXPECT_EQ(steering_policy, steering.to_write(true));
    steering.note_written(steering_policy);
    steering.step(bond(BondPolicy::layer2), begun + 2min);
    EXPECT_EQ(Unsteered::owner, steering.reason());
    EXPECT_EQ(std::nullopt, steering.to_write(true));
    EXPECT_EQ(std::nullopt, steering.deadline());
    steering.step(bond(BondPolicy::layer2), begun + 1h);
    EXPECT_EQ(Unsteered::owner, steering.reason());
}

TEST(BondSteering, of_a_bond_of_ours_replaces_each_policy_ever_later) {
    auto steering = BondSteering::of_ours();
    auto now = begun;
    steering.step(bond(steering_policy), now);
    for (const auto pause : {2s, 4s, 8s}) {
        now += 1min;
        steering.step(bond(BondPolicy::vlan_srcmac), now);
        EXPECT_EQ(Unsteered::waits, steering.reason());
        EXPECT_EQ(now + pause, steering.deadline());
        steering.step(bond(BondPolicy::vlan_srcmac), now + pause);
        EXPECT_EQ(Unsteered::nothing, steering.reason());
        EXPECT_EQ(steering_policy, steering.to_write(true));
        steering.note_written(steering_policy);
        EXPECT_EQ(std::nullopt, steering.former());
        EXPECT_EQ(std::nullopt, steering.to_write(true));
    }
}

TEST(BondSteering, forgets_a_change_after_ten_minutes) {
    auto steering = steered();
    for (auto at = begun + 1h; at < begun + 5h; at += 1h) {
        steering.step(bond(BondPolicy::layer2), at);
        EXPECT_EQ(Unsteered::waits, steering.reason());
        steering.step(bond(BondPolicy::layer2), at + 2s);
        ASSERT_EQ(steering_policy, steering.to_write(true));
        steering.note_written(steering_policy);
    }
}

TEST(BondSteering, watches_what_it_cannot_steer) {
    const auto reason = [](View view) {
        BondSteering steering;
        steering.step(view, begun);
        EXPECT_EQ(std::nullopt, steering.to_write(true));
        return steering.reason();
    };
    auto view = bond(BondPolicy::layer34);
    view.mode = bond_mode_round_robin;
    EXPECT_EQ(Unsteered::mode, reason(view));
    view.mode = bond_mode_active_backup;
    EXPECT_EQ(Unsteered::nothing, reason(view));
    view.shares_address = false;
    EXPECT_EQ(Unsteered::addresses, reason(view));
    view.shares_address = view.waits = true;
    EXPECT_EQ(Unsteered::delay, reason(view));
    EXPECT_EQ(Unsteered::policy, reason(bond(BondPolicy::vlan_srcmac)));
    EXPECT_EQ(Unsteered::policy, reason(bond(std::nullopt)));
    view = bond(BondPolicy::layer34);
    view.offloads_tls = true;
    EXPECT_EQ(Unsteered::device_tls, reason(view));
    view = bond(BondPolicy::layer34);
    view.slaves = 9;
    EXPECT_EQ(Unsteered::slaves, reason(view));
    view = bond(BondPolicy::layer34);
    view.has_programs = false;
    EXPECT_EQ(Unsteered::programs, reason(view));
    view = bond(BondPolicy::layer34);
    view.mode = bond_mode_xor;
    view.by_source = view.probes = true;
    EXPECT_EQ(Unsteered::arp, reason(view));
}

TEST(BondSteering, puts_the_policy_back_when_it_cannot_steer_any_more) {
    auto steering = steered();
    auto view = bond(steering_policy);
    view.slaves = 9;
    steering.step(view, begun);
    EXPECT_EQ(BondPolicy::layer23, steering.to_write(true));
    steering.note_written(BondPolicy::layer23);
    view.policy = BondPolicy::layer23;
    steering.step(view, begun);
    EXPECT_EQ(std::nullopt, steering.to_write(true));
    view.slaves = 8;
    steering.step(view, begun);
    EXPECT_EQ(steering_policy, steering.to_write(true));
}

TEST(BondSteering, writes_no_policy_in_active_backup) {
    auto view = bond(BondPolicy::layer23);
    view.mode = bond_mode_active_backup;
    auto steering = steered();
    view.policy = steering_policy;
    steering.step(view, begun); // the mode has changed: the former policy comes back
    EXPECT_EQ(BondPolicy::layer23, steering.to_write(true));
    steering.note_written(BondPolicy::layer23);
    for (const auto policy : {BondPolicy::layer23, BondPolicy::layer34, BondPolicy::layer2}) {
        view.policy = policy;
        steering.step(view, begun + 1min);
        EXPECT_EQ(Unsteered::nothing, steering.reason());
        EXPECT_EQ(std::nullopt, steering.to_write(true));
    }
}

TEST(BondSteering, keeps_together_what_the_policy_does) {
    EXPECT_EQ(HashFields{} | HashField::eth, hash_fields_of(BondPolicy::layer2));
    EXPECT_EQ(hash_fields_named("eth") | hash_fields_named("ip"), hash_fields_of(BondPolicy::layer23));
    EXPECT_EQ(hash_fields_named("ip") | hash_fields_named("l4"), hash_fields_of(BondPolicy::layer34));
}

/// An active-backup bond, 9, over the slaves 1 to 3.
Links backup_bond() {
    constexpr std::uint32_t link_flags = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;
    Links links;
    for (const std::uint32_t number : {1, 2, 3, 9}) {
        auto& link = links[IfIndex{number}];
        link.index = IfIndex{number};
        link.flags = link_flags;
        if (number != 9) link.master = IfIndex{9};
    }
    links[IfIndex{9}].bond_mode = bond_mode_active_backup;
    links[IfIndex{9}].bond_active = IfIndex{1};
    return links;
}

TEST(BondTakeover, chooses_as_bonding_does_when_the_active_slave_has_no_link) {
    auto links = backup_bond();
    const auto next = [&links] { return takeover(links, links.at(IfIndex{9})); };
    EXPECT_EQ(std::nullopt, next());
    links[IfIndex{1}].flags = IFF_UP;
    EXPECT_EQ(IfIndex{2}, next());
    links[IfIndex{3}].bond_prio = 1;
    EXPECT_EQ(IfIndex{3}, next());
    links[IfIndex{9}].bond_primary = IfIndex{2};
    EXPECT_EQ(IfIndex{2}, next());
    links[IfIndex{2}].bond_uses_link = false; // bonding would refuse it
    EXPECT_EQ(IfIndex{3}, next());
    links[IfIndex{3}].flags = IFF_UP;
    EXPECT_EQ(std::nullopt, next());
    links[IfIndex{9}].bond_mode = bond_mode_xor;
    links[IfIndex{3}].flags = links[IfIndex{9}].flags;
    EXPECT_EQ(std::nullopt, next());
}

TEST(BondTakeover, follows_the_choice_of_bonding) {
    auto links = backup_bond();
    std::vector<Candidate> ports;
    for (const std::uint32_t number : {1, 2, 3})
        ports.push_back({.port = IfIndex{number}, .up = true});
    const auto chosen = [&] { return chosen_by_bonding(links, links.at(IfIndex{9}), ports); };
    const std::vector<IfIndex> first{IfIndex{1}}, others_first{IfIndex{2}, IfIndex{3}, IfIndex{1}};
    EXPECT_EQ((Decision{.transmit = first, .receive = first, .standby = others_first, .active = IfIndex{1}}),
              chosen());
    links[IfIndex{3}].bond_prio = 1;
    EXPECT_EQ((std::vector<IfIndex>{IfIndex{3}, IfIndex{2}, IfIndex{1}}), chosen().standby);
    links[IfIndex{9}].bond_takes_all = true;
    EXPECT_EQ((std::vector<IfIndex>{IfIndex{1}, IfIndex{2}, IfIndex{3}}), chosen().receive);
    // Bonding sends by it as long as it is active; what a link watch says does not matter.
    ports[0].up = false;
    EXPECT_EQ(first, chosen().transmit);
    links[IfIndex{1}].flags = IFF_UP;
    EXPECT_EQ(IfIndex{1}, chosen().active);
    EXPECT_TRUE(chosen().transmit.empty());
    // Not a port yet.
    ports.pop_back();
    EXPECT_EQ((std::vector<IfIndex>{IfIndex{2}, IfIndex{1}}), chosen().standby);
}

/// What it has chosen is first among the backups until bonding has made it active.
TEST(BondTakeover, has_the_order_of_the_runner_that_chooses) {
    auto links = backup_bond();
    const std::vector<Candidate> ports{{.port = IfIndex{1}}, {.port = IfIndex{2}}, {.port = IfIndex{3}}};
    Decision wanted{.transmit = {}, .receive = {}, .standby = {IfIndex{2}, IfIndex{1}}, .active = IfIndex{3}};
    const auto chosen = [&] { return chosen_by_bonding(links, links.at(IfIndex{9}), ports, wanted); };
    EXPECT_EQ((std::vector<IfIndex>{IfIndex{3}, IfIndex{2}, IfIndex{1}}), chosen().standby);
    wanted.standby = {IfIndex{1}};
    wanted.active.reset();
    EXPECT_EQ((std::vector<IfIndex>{IfIndex{2}, IfIndex{3}, IfIndex{1}}), chosen().standby);
}

} // namespace
} // namespace teamo
