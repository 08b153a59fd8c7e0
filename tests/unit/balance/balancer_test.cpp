// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/balancer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace teamo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::SizeIs;

constexpr double gigabit = 125e6;

/// Buckets by owner and load. All others are idle and assigned to the ports in turn.
class Setting {
public:
    explicit Setting(std::vector<BalancedPort> carrying) : ports(std::move(carrying)) {
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            owners[bucket] = ports[bucket % ports.size()].slot;
    }
    /// Adds a bucket with load. Returns its number.
    std::size_t with(int slot, double bytes, double gso_share = 0) {
        const auto bucket = next_++;
        owners[bucket] = Slot{static_cast<std::uint8_t>(slot)};
        loads[bucket] = {.bytes = bytes, .packets = bytes / 1000, .bulk = bytes * gso_share};
        return bucket;
    }
    void many(int count, int slot, double bytes, double gso_share = 0) {
        for (int index = 0; index < count; ++index)
            with(slot, bytes, gso_share);
    }
    Placement placed(const BalancePolicy& policy = {}) const { return place(owners, loads, ports, policy); }

    std::vector<BalancedPort> ports;
    BucketOwners owners{};
    BucketLoads loads{};

private:
    std::size_t next_ = 0;
};

BalancedPort port(int slot, double capacity = gigabit, bool segments = true, double cpu_load = 0) {
    return {.slot = Slot{static_cast<std::uint8_t>(slot)},
            .capacity = capacity,
            .segments = segments,
            .cpu_load = cpu_load};
}
std::vector<BalancedPort> alike(int count) {
    std::vector<BalancedPort> ports;
    for (int slot = 1; slot <= count; ++slot)
        ports.push_back(port(slot));
    return ports;
}
/// Ports 1 and 2 segment, 3 and 4 do not.
std::vector<BalancedPort> two_kinds(double capacity = gigabit) {
    return {port(1, capacity), port(2, capacity), port(3, capacity, false), port(4, capacity, false)};
}

MATCHER_P(because_of, reason, "") { return arg.reason == reason; }

double bulk_on(const Placement& placement, const BucketLoads& loads, std::set<int> slots) {
    double sum = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (slots.contains(placement.owners[bucket].value)) sum += loads[bucket].bulk;
    return sum;
}

std::map<int, int> buckets_by_port(const BucketOwners& owners) {
    std::map<int, int> counts;
    for (const auto owner : owners)
        ++counts[owner.value];
    return counts;
}

/// Otherwise the same resting bucket would be chosen again and again, and the port would stay full.
TEST(Balancer, moves_other_buckets_if_best_one_rests) {
    Setting setting(alike(2));
    const auto best = setting.with(1, 20e6);
    setting.many(6, 1, 10e6);
    setting.many(4, 2, 10e6);
    const auto placement = setting.placed();
    ASSERT_THAT(placement.moves, ElementsAre(Field(&BucketMove::bucket, best)));
    const auto others = place(setting.owners, setting.loads, setting.ports, {}, RestingBuckets{}.set(best));
    EXPECT_THAT(others.moves, AllOf(SizeIs(2), Each(Field(&BucketMove::bucket, Ne(best)))));
    EXPECT_EQ(others.planned, placement.planned);
}

/// Resting load cannot move and must not count as load that could.
TEST(Balancer, balances_other_ports_beside_resting_load) {
    Setting setting(alike(3));
    RestingBuckets resting;
    for (int count = 0; count < 5; ++count)
        resting.set(setting.with(1, 50));
    setting.many(10, 2, 10);
    const auto placement = place(setting.owners, setting.loads, setting.ports, {}, resting);
    EXPECT_EQ(placement.planned[1], 250);
    EXPECT_EQ(placement.planned[2], 50);
    EXPECT_EQ(placement.planned[3], 50);
}

TEST(Balancer, changes_nothing_without_ports) {
    const Setting setting(alike(2));
    const auto placement = place(setting.owners, setting.loads, {}, {});
    EXPECT_EQ(placement.owners, setting.owners);
    EXPECT_THAT(placement.moves, IsEmpty());
    EXPECT_THAT(placement.planned, Each(0));
}

TEST(Balancer, spreads_unowned_idle_buckets_evenly) {
    const auto placement = place(BucketOwners{}, BucketLoads{}, alike(3), {});
    EXPECT_EQ(buckets_by_port(placement.owners), (std::map<int, int>{{1, 86}, {2, 85}, {3, 85}}));
    EXPECT_THAT(placement.moves, AllOf(SizeIs(256), Each(because_of(MoveReason::membership))));
}

TEST(Balancer, moves_only_idle_buckets_of_removed_port) {
    const Setting setting(alike(4));
    const auto placement = place(setting.owners, setting.loads, alike(3), {});
    EXPECT_THAT(placement.moves, AllOf(SizeIs(64), Each(because_of(MoveReason::membership)),
                                       Each(Field(&BucketMove::from, Slot{4}))));
    EXPECT_EQ(buckets_by_port(placement.owners), (std::map<int, int>{{1, 86}, {2, 85}, {3, 85}}));
}

TEST(Balancer, gives_loaded_bucket_of_removed_port_to_emptier_port) {
    Setting setting(alike(3));
    setting.with(1, 500);
    setting.with(2, 300);
    setting.with(3, 200);
    const auto placement = place(setting.owners, setting.loads, alike(2), {});
    EXPECT_EQ(placement.owners[2], Slot{2});
}

TEST(Balancer, moves_nothing_within_tolerance) {
    Setting setting(alike(2));
    setting.many(104, 1, 10);
    setting.many(96, 2, 10);
    EXPECT_THAT(setting.placed().moves, IsEmpty());
}

/// A few small bursts are never even.
TEST(Balancer, moves_nothing_for_load_at_rest) {
    Setting setting(alike(2));
    setting.many(3, 1, 20e3);
    EXPECT_THAT(setting.placed().moves, SizeIs(1));
    EXPECT_THAT(setting.placed({.idle = 100e3}).moves, IsEmpty());
    setting.ports.pop_back();
    setting.with(2, 1e3);
    EXPECT_FALSE(setting.placed({.idle = 100e3}).moves.empty()) << "they move for membership";
}

TEST(Balancer, moves_single_bucket_if_sufficient) {
    Setting setting(alike(2));
    setting.many(10, 1, 10);
    const auto fitting = setting.with(1, 30);
    setting.with(1, 70);
    setting.many(14, 2, 10);
    const auto placement = setting.placed();
    ASSERT_THAT(placement.moves, SizeIs(1));
    const auto& move = placement.moves.front();
    EXPECT_EQ(move.bucket, fitting);
    EXPECT_EQ(move.from, Slot{1});
    EXPECT_EQ(move.to, Slot{2});
    EXPECT_EQ(move.reason, MoveReason::load);
    EXPECT_NEAR(move.gain, 200 / 170.0 - 1, 1e-9) << "from 200 to 170, which is the mean";
    EXPECT_EQ(placement.planned[1], 170);
    EXPECT_EQ(placement.planned[2], 170);
}

TEST(Balancer, swaps_buckets_if_one_move_does_not_help) {
    Setting setting(alike(2));
    setting.many(2, 1, 60);
    setting.many(2, 2, 40);
    const auto placement = setting.placed();
    EXPECT_THAT(placement.moves, AllOf(SizeIs(2), Each(because_of(MoveReason::load)),
                                       Each(Field(&BucketMove::gain, ::testing::DoubleNear(0.2, 1e-9)))));
    EXPECT_EQ(placement.planned[1], 100);
    ASSERT_THAT(placement.moves, SizeIs(2));
    const auto &one = placement.moves[0], &two = placement.moves[1];
    ASSERT_TRUE(one.swap && two.swap);
    EXPECT_EQ(one.swap->other, two.bucket);
    EXPECT_EQ(two.swap->other, one.bucket);
    EXPECT_NEAR(one.swap->gain_after_other, 0.6, 1e-9) << "from 160 and 40 to 100 each";
    EXPECT_NEAR(two.swap->gain_after_other, 0.4, 1e-9) << "from 60 and 140 to 100 each";
}

TEST(Balancer, does_not_swap_equal_loads) {
    Setting setting(alike(2));
    setting.many(3, 1, 50);
    setting.many(2, 2, 50);
    EXPECT_THAT(setting.placed().moves, IsEmpty());
}

TEST(Balancer, never_moves_idle_buckets_for_load) {
    Setting setting(alike(2));
    setting.many(6, 1, 10);
    const auto idle = setting.owners;
    const auto placement = setting.placed();
    for (std::size_t bucket = 6; bucket < bucket_count; ++bucket)
        EXPECT_EQ(placement.owners[bucket], idle[bucket]);
    EXPECT_THAT(placement.moves, SizeIs(3));
}

TEST(Balancer, gives_faster_port_more_load) {
    Setting setting({port(1, gigabit), port(2, 3 * gigabit)});
    setting.many(50, 1, 1000);
    setting.many(50, 2, 1000);
    const auto placement = setting.placed();
    EXPECT_NEAR(placement.planned[1], 25000, 750);
    EXPECT_NEAR(placement.planned[2], 75000, 750);
}

TEST(Balancer, assumes_mean_speed_if_unknown) {
    Setting setting({port(1, gigabit), port(2, 3 * gigabit), port(3, 0)});
    setting.many(120, 1, 1000);
    const auto placement = setting.placed();
    EXPECT_NEAR(placement.planned[1], 20000, 800);
    EXPECT_NEAR(placement.planned[2], 60000, 800);
    EXPECT_NEAR(placement.planned[3], 40000, 800);
}

TEST(Balancer, gives_less_to_port_with_busy_cpu) {
    Setting setting({port(1), port(2, gigabit, true, 1.0)});
    setting.many(90, 1, 1000);
    EXPECT_NEAR(setting.placed().planned[2], 30000, 1200);
    EXPECT_NEAR(setting.placed({.aware = false}).planned[2], 45000, 900);
}

TEST(Balancer, moves_bulk_to_tso_ports) {
    Setting setting(two_kinds());
    for (int slot = 1; slot <= 4; ++slot) {
        setting.many(2, slot, 10e6, 1);
        setting.many(20, slot, 1e6, 0);
    }
    const auto placement = setting.placed();
    EXPECT_EQ(bulk_on(placement, setting.loads, {1, 2}), 80e6);
    for (int slot = 1; slot <= 4; ++slot)
        EXPECT_NEAR(placement.planned[static_cast<std::size_t>(slot)], 40e6, 2e6) << "the rest evens out";
    EXPECT_THAT(placement.moves, Each(because_of(MoveReason::offload)));
    EXPECT_NEAR(placement.moves.front().gain, 1 / 8.0, 1e-9) << "an eighth of all bulk";
}

TEST(Balancer, moves_small_packets_off_ports_full_of_bulk) {
    Setting setting(two_kinds());
    setting.many(8, 3, 10e6, 1);
    setting.many(20, 1, 1e6, 0);
    const auto placement = setting.placed();
    EXPECT_EQ(placement.planned[1], 40e6);
    EXPECT_EQ(placement.planned[2], 40e6);
    EXPECT_NEAR(placement.planned[3], 10e6, 1.5e6);
    EXPECT_NEAR(placement.planned[4], 10e6, 1.5e6);
}

TEST(Balancer, ignores_bulk_unless_offload_aware) {
    Setting setting(two_kinds());
    for (int slot = 1; slot <= 4; ++slot)
        setting.many(2, slot, 10e6, 1);
    EXPECT_THAT(setting.placed({.aware = false}).moves, IsEmpty());
    EXPECT_THAT(setting.placed().moves, SizeIs(4));
}

TEST(Balancer, ignores_bulk_if_all_ports_are_alike) {
    for (const bool segments : {true, false}) {
        Setting setting({port(1, gigabit, segments), port(2, gigabit, segments)});
        setting.many(2, 1, 10e6, 1);
        setting.many(20, 2, 1e6, 0);
        EXPECT_THAT(setting.placed().moves, IsEmpty());
    }
}

TEST(Balancer, keeps_half_bulk_bucket_on_its_kind_of_port) {
    Setting setting(two_kinds());
    const auto here = setting.with(1, 10e6, 0.5), there = setting.with(3, 10e6, 0.5);
    setting.with(2, 10e6, 0);
    setting.with(4, 10e6, 0);
    EXPECT_THAT(setting.placed().moves, IsEmpty());
    setting.loads[here].bulk = 4.1e6;
    setting.loads[there].bulk = 5.9e6;
    EXPECT_THAT(setting.placed().moves, IsEmpty());
    setting.loads[there].bulk = 6.1e6;
    EXPECT_EQ(setting.placed().owners[there], Slot{2}) << "where no bulk is";
}

TEST(Balancer, ignores_trace_of_bulk) {
    Setting setting(two_kinds());
    setting.with(1, 49e6, 1);
    setting.with(2, 49e6, 1);
    setting.with(3, 49e6, 0);
    setting.with(4, 48e6, 0);
    setting.with(4, 1e6, 1);
    EXPECT_THAT(setting.placed().moves, IsEmpty());
}

TEST(Balancer, spills_bulk_if_tso_ports_are_full) {
    Setting setting(two_kinds());
    setting.many(8, 1, gigabit * 0.94 / 8, 1);
    setting.many(8, 2, gigabit * 0.94 / 8, 1);
    const auto placement = setting.placed();
    EXPECT_THAT(placement.moves, AllOf(SizeIs(1), Each(because_of(MoveReason::load))));
    EXPECT_LE(placement.planned[1] + placement.planned[2], 2 * 0.9 * gigabit);
}

TEST(Balancer, keeps_bulk_in_place_if_all_ports_are_full) {
    Setting setting(two_kinds());
    for (int slot = 1; slot <= 4; ++slot)
        setting.many(4, slot, gigabit * 0.94 / 4, 1);
    EXPECT_THAT(setting.placed().moves, IsEmpty());
}

TEST(Balancer, returns_spilled_bulk_only_with_enough_room) {
    Setting setting(two_kinds());
    for (int slot = 1; slot <= 2; ++slot)
        setting.many(8, slot, gigabit * 0.8 / 8, 1);
    const auto spilled = setting.with(3, gigabit * 0.1, 1);
    EXPECT_EQ(setting.placed().owners[spilled], Slot{3}) << "85 % of the capable ports' capacity";
    for (std::size_t bucket = 0; bucket < 16; ++bucket)
        setting.loads[bucket].bytes = setting.loads[bucket].bulk = gigabit * 0.75 / 8;
    EXPECT_NE(setting.placed().owners[spilled], Slot{3}) << "80 %";
}

TEST(Balancer, spills_nothing_if_capacity_is_unknown) {
    Setting setting(two_kinds(0));
    for (int slot = 1; slot <= 4; ++slot)
        setting.many(2, slot, 1e9, 1);
    EXPECT_EQ(bulk_on(setting.placed(), setting.loads, {1, 2}), 8e9);
}

TEST(Balancer, isolates_bucket_above_fair_share) {
    Setting setting(alike(4));
    const auto giant = setting.with(2, 60e6);
    for (int slot = 1; slot <= 4; ++slot)
        setting.many(10, slot, 1e6);
    const auto placement = setting.placed();
    EXPECT_EQ(placement.owners[giant], Slot{2});
    EXPECT_NEAR(placement.planned[2], 60e6, 0.5e6);
    for (const std::size_t slot : {1, 3, 4})
        EXPECT_NEAR(placement.planned[slot], 40e6 / 3, 1.5e6);
}

TEST(Balancer, separates_two_large_buckets) {
    Setting setting(alike(4));
    setting.many(2, 1, 50e6);
    for (int slot = 1; slot <= 4; ++slot)
        setting.many(10, slot, 1e6);
    const auto placement = setting.placed();
    EXPECT_NE(placement.owners[0], placement.owners[1]);
    EXPECT_LT(std::ranges::max(placement.planned), 52e6);
}

TEST(Balancer, puts_large_bucket_on_faster_port) {
    Setting setting({port(1, gigabit), port(2, 10 * gigabit)});
    const auto giant = setting.with(1, 500e6);
    setting.many(50, 2, 1e6);
    const auto placement = setting.placed();
    EXPECT_EQ(placement.owners[giant], Slot{2});
    EXPECT_NEAR(placement.planned[2], 500e6, 500e6 * 0.021);
}

TEST(Balancer, ignores_duplicate_and_invalid_ports) {
    Setting setting(alike(2));
    setting.many(20, 1, 10);
    auto ports = setting.ports;
    ports.push_back(port(1));
    ports.push_back(port(0));
    ports.push_back(port(9));
    EXPECT_EQ(place(setting.owners, setting.loads, ports, {}).owners, setting.placed().owners);
}

TEST(Balancer, does_not_depend_on_order_of_ports) {
    Setting setting(two_kinds());
    setting.many(20, 3, 1e6, 1);
    setting.many(40, 1, 1e5, 0);
    const auto one = setting.placed();
    std::ranges::reverse(setting.ports);
    EXPECT_EQ(setting.placed().moves, one.moves);
}

TEST(Balancer, shares_load_by_weight) {
    Setting setting(alike(3));
    setting.ports[0].weight = 2;
    apply_weights(setting.ports);
    setting.many(120, 1, 1e6);
    const auto placement = setting.placed();
    EXPECT_NEAR(placement.planned[1], 60e6, 3e6);
    EXPECT_NEAR(placement.planned[2], 30e6, 3e6);
    EXPECT_NEAR(placement.planned[3], 30e6, 3e6);
}

TEST(Weights, give_no_port_more_than_its_link) {
    std::vector<BalancedPort> ports{port(1, 10 * gigabit), port(2, gigabit), port(3, 0)};
    const auto before = ports;
    apply_weights(ports);
    for (std::size_t number = 0; number < 3; ++number) // without a weight nothing changes
        EXPECT_EQ(ports[number].capacity, before[number].capacity);
    ports[0].weight = 4;
    apply_weights(ports);
    EXPECT_DOUBLE_EQ(ports[0].capacity, 4 * gigabit);
    EXPECT_DOUBLE_EQ(ports[1].capacity, gigabit);
    EXPECT_DOUBLE_EQ(ports[2].capacity, gigabit) << "its speed is not known";
    EXPECT_DOUBLE_EQ(ports[1].weight, 1);
}

TEST(Weights, count_where_no_speed_is_known) {
    Setting setting({port(1, 0), port(2, 0)});
    setting.ports[0].weight = 3;
    apply_weights(setting.ports);
    EXPECT_EQ(setting.ports[0].capacity, 0);
    setting.many(100, 2, 1e6);
    EXPECT_NEAR(setting.placed().planned[1], 75e6, 4e6);
}

} // namespace
} // namespace teamo
