// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/buckets.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace teamo {
namespace {

constexpr SlotSet slots(std::initializer_list<int> numbers) {
    SlotSet set = 0;
    for (const int number : numbers)
        set |= SlotSet{1} << number;
    return set;
}

std::array<std::size_t, max_ports + 1> shares(const BucketOwners& owners) {
    std::array<std::size_t, max_ports + 1> counts{};
    for (const auto owner : owners)
        ++counts[owner.value];
    return counts;
}

std::array<std::size_t, max_ports + 1> loads(const Buckets& buckets, SlotSet live) {
    std::array<std::size_t, max_ports + 1> counts{};
    for (const auto& bucket : buckets)
        ++counts[leaves_by(bucket, live).value];
    return counts;
}

std::size_t moved(const BucketOwners& from, const BucketOwners& to) {
    std::size_t count = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        count += from[bucket] != to[bucket];
    return count;
}

/// The largest difference between two slots of the set.
std::size_t spread(const std::array<std::size_t, max_ports + 1>& counts, SlotSet set) {
    std::size_t least = bucket_count, most = 0;
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if ((set & bit(Slot{number})) != 0) {
            least = std::min(least, counts[number]);
            most = std::max(most, counts[number]);
        }
    return most - least;
}

TEST(BucketOwners, gives_four_ports_ranges_of_64) {
    const auto owners = assign_evenly(BucketOwners{}, slots({1, 2, 3, 4}));
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        EXPECT_EQ(owners[bucket], Slot{static_cast<std::uint8_t>(bucket / 64 + 1)}) << bucket;
}

TEST(BucketOwners, has_no_owner_without_ports) {
    EXPECT_EQ(assign_evenly(BucketOwners{}, 0), BucketOwners{});
}

TEST(BucketOwners, gives_ports_equal_shares_within_one) {
    for (SlotSet set = 2; set < 512; set += 2)
        EXPECT_LE(spread(shares(assign_evenly(BucketOwners{}, set)), set), 1U) << set;
}

Weights weighing(std::initializer_list<std::uint32_t> list) {
    auto weights = equal_weights;
    std::ranges::copy(list, weights.begin() + 1);
    return weights;
}

TEST(BucketOwners, gives_ports_shares_by_weight) {
    const auto set = slots({1, 2, 3});
    using Shares = std::array<std::size_t, max_ports + 1>;
    EXPECT_EQ(shares(assign_evenly({}, set, weighing({2, 1, 1}))), (Shares{0, 128, 64, 64}));
    EXPECT_EQ(shares(assign_evenly({}, set, weighing({10, 10, 1}))), (Shares{0, 122, 122, 12}));
    EXPECT_EQ(shares(assign_evenly({}, set, weighing({100'000, 1, 1}))), (Shares{0, 254, 1, 1}))
        << "each port has a bucket";
    EXPECT_EQ(assign_evenly({}, set, weighing({7, 7, 7})), assign_evenly({}, set));
}

TEST(BucketOwners, moves_only_the_difference_after_a_change_of_a_weight) {
    const auto set = slots({1, 2, 3, 4});
    const auto before = assign_evenly({}, set);
    const auto after = settle(before, set & ~bit(Slot{2}), set, /*measured=*/false, weighing({1, 5, 1, 1}));
    EXPECT_EQ(shares(after), (std::array<std::size_t, max_ports + 1>{0, 32, 160, 32, 32}));
    EXPECT_EQ(moved(before, after), 96U);
}

TEST(NextPorts, spreads_buckets_of_lost_ports_by_weight) {
    const auto set = slots({1, 2, 3, 4, 5});
    const auto weights = weighing({1, 2, 4, 8, 10});
    const auto buckets = preferences(assign_evenly({}, set, weights), set, weights);
    for (SlotSet live = 2; live < 64; live += 2) {
        std::uint32_t total = 0;
        for (std::uint8_t slot = 1; slot <= 5; ++slot)
            if ((live & bit(Slot{slot})) != 0) total += weights[slot];
        const auto counts = loads(buckets, live);
        for (std::uint8_t slot = 1; slot <= 5; ++slot) {
            if ((live & bit(Slot{slot})) == 0) continue;
            EXPECT_NEAR(static_cast<double>(counts[slot]), 256.0 * weights[slot] / total, 14)
                << "live " << live << ", slot " << int{slot};
        }
    }
}

TEST(BucketOwners, keeps_owners_if_ports_stay) {
    const auto owners = assign_evenly(BucketOwners{}, slots({1, 3, 7}));
    EXPECT_EQ(assign_evenly(owners, slots({1, 3, 7})), owners);
}

TEST(BucketOwners, moves_only_buckets_of_removed_port) {
    const auto before = assign_evenly(BucketOwners{}, slots({1, 2, 3, 4}));
    const auto after = assign_evenly(before, slots({1, 2, 4}));
    EXPECT_EQ(moved(before, after), 64U);
    EXPECT_LE(spread(shares(after), slots({1, 2, 4})), 1U);
}

TEST(BucketOwners, moves_buckets_only_to_new_port) {
    const auto before = assign_evenly(BucketOwners{}, slots({1, 2, 3}));
    const auto after = assign_evenly(before, slots({1, 2, 3, 4}));
    EXPECT_EQ(moved(before, after), 64U);
    EXPECT_EQ(shares(after)[4], 64U);
}

TEST(BucketOwners, stays_even_with_minimal_moves) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    BucketOwners owners{};
    SlotSet set = 0;
    for (int step = 0; step < 500; ++step) {
        const auto next = set ^ bit(Slot{static_cast<std::uint8_t>(1 + random() % max_ports)});
        const auto after = assign_evenly(owners, next);
        if (next != 0) {
            ASSERT_LE(spread(shares(after), next), 1U);
            // The moves are exactly the buckets of a removed port or those of a new one.
            const auto gone = set & ~next, come = next & ~set;
            for (std::uint8_t slot = 1; slot <= max_ports; ++slot) {
                if ((gone & bit(Slot{slot})) != 0) {
                    ASSERT_EQ(moved(owners, after), shares(owners)[slot]);
                }
                if ((come & bit(Slot{slot})) != 0) {
                    ASSERT_EQ(moved(owners, after), shares(after)[slot]);
                }
            }
        }
        owners = after;
        set = next;
    }
}

TEST(NextPorts, lists_every_port_once_owner_first) {
    const auto set = slots({2, 5, 6, 8});
    const auto owners = assign_evenly(BucketOwners{}, set);
    const auto buckets = preferences(owners, set);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        EXPECT_EQ(buckets[bucket][0], owners[bucket]);
        SlotSet named = 0;
        for (const auto slot : buckets[bucket])
            if (slot != Slot{0}) named |= bit(slot);
        EXPECT_EQ(named, set);
    }
}

TEST(NextPorts, have_drained_ports_at_their_end) {
    const auto set = slots({1, 2, 4});
    for (const auto& order :
         preferences(assign_evenly(BucketOwners{}, set), set, equal_weights, slots({3, 5}))) {
        EXPECT_EQ(leaves_by(order, slots({1, 3, 5})), Slot{1});
        EXPECT_EQ(leaves_by(order, slots({3, 5})), Slot{3});
        EXPECT_EQ(order[5], Slot{0});
    }
}

TEST(NextPorts, keeps_other_buckets_if_port_is_down) {
    const auto set = slots({1, 2, 3, 4});
    const auto owners = assign_evenly(BucketOwners{}, set);
    const auto buckets = preferences(owners, set);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        if (owners[bucket] == Slot{2}) continue;
        EXPECT_EQ(leaves_by(buckets[bucket], slots({1, 3, 4})), owners[bucket]);
    }
}

TEST(NextPorts, spreads_buckets_of_one_lost_port_evenly) {
    for (std::uint8_t ports = 2; ports <= max_ports; ++ports) {
        const SlotSet set = (SlotSet{2} << ports) - 2;
        const auto buckets = preferences(assign_evenly(BucketOwners{}, set), set);
        for (std::uint8_t lost = 1; lost <= ports; ++lost) {
            const auto live = set & ~bit(Slot{lost});
            EXPECT_LE(spread(loads(buckets, live), live), 2U)
                << int{ports} << " ports, " << int{lost} << " lost";
        }
    }
}

TEST(NextPorts, spreads_buckets_of_several_lost_ports_nearly_evenly) {
    for (std::uint8_t ports = 3; ports <= max_ports; ++ports) {
        const SlotSet set = (SlotSet{2} << ports) - 2;
        const auto buckets = preferences(assign_evenly(BucketOwners{}, set), set);
        for (SlotSet live = 2; live < (SlotSet{2} << ports); live += 2) {
            const auto left = static_cast<std::size_t>(__builtin_popcount(live));
            const auto counts = loads(buckets, live);
            const auto most = *std::ranges::max_element(counts);
            EXPECT_LE(static_cast<double>(most) * static_cast<double>(left) / bucket_count, 1.15)
                << int{ports} << " ports, live " << live;
        }
    }
}

TEST(NextPorts, uses_no_port_if_none_is_live) {
    const auto set = slots({1, 2});
    EXPECT_EQ(leaves_by(preferences(assign_evenly(BucketOwners{}, set), set)[0], 0), Slot{0});
}

// ---- settle ----------------------------------------------------------------------------------

TEST(BucketOwners, keeps_uneven_owners_while_members_stay) {
    const SlotSet three = bit(Slot{1}) | bit(Slot{2}) | bit(Slot{3});
    BucketOwners owners = assign_evenly({}, three);
    owners[0] = owners[1] = Slot{3}; // uneven, as an administrator or the balancer made it
    for (const bool measured : {false, true})
        EXPECT_EQ(settle(owners, three, three, measured), owners);
}

TEST(BucketOwners, gives_new_port_its_share) {
    const SlotSet two = bit(Slot{1}) | bit(Slot{2}), three = two | bit(Slot{3});
    const auto owners = assign_evenly({}, two);
    for (const bool measured : {false, true})
        EXPECT_EQ(settle(owners, two, three, measured), assign_evenly(owners, three));
}

TEST(BucketOwners, keeps_measured_owners_of_remaining_ports) {
    const SlotSet two = bit(Slot{1}) | bit(Slot{2}), three = two | bit(Slot{3});
    BucketOwners owners = assign_evenly({}, three);
    for (std::size_t bucket = 0; bucket < 40; ++bucket)
        owners[bucket] = Slot{2};
    const auto next = settle(owners, three, two, /*measured=*/true);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (owners[bucket] == Slot{3})
            EXPECT_TRUE(next[bucket] == Slot{1} || next[bucket] == Slot{2});
        else
            EXPECT_EQ(next[bucket], owners[bucket]);
    EXPECT_EQ(settle(owners, three, two, /*measured=*/false), assign_evenly(owners, two));
}

// A port that the balancer has emptied is still a member.
TEST(BucketOwners, treats_emptied_port_as_existing_member) {
    const SlotSet two = bit(Slot{1}) | bit(Slot{2});
    BucketOwners owners;
    owners.fill(Slot{1});
    EXPECT_EQ(settle(owners, two, two, true), owners);
}

} // namespace
} // namespace teamo
