// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Properties of every placement: thousands of random cases; a failure shows its seed.
#include "balance/balancer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace teamo {
namespace {

struct Case {
    BucketOwners owners{};
    BucketLoads loads{};
    std::vector<BalancedPort> ports;
    BalancePolicy policy;
    RestingBuckets resting;
};

class Dice {
public:
    explicit Dice(std::uint32_t seed) : engine_(seed) {}
    double real(double from, double to) { return std::uniform_real_distribution(from, to)(engine_); }
    int number(int from, int to) { return std::uniform_int_distribution(from, to)(engine_); }
    bool chance(double share) { return real(0, 1) < share; }

private:
    std::mt19937 engine_;
};

std::vector<BalancedPort> some_ports(Dice& dice) {
    constexpr std::array speeds{125e6, 312.5e6, 1250e6};
    const bool same = dice.chance(0.5), known = dice.chance(0.8), kinds = dice.chance(0.6);
    std::vector<BalancedPort> ports;
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (dice.chance(0.6))
            ports.push_back({.slot = Slot{slot},
                             .capacity = !known || dice.chance(0.05) ? 0
                                         : same                      ? 125e6
                                                : speeds[static_cast<std::size_t>(dice.number(0, 2))],
                             .segments = !kinds || dice.chance(0.5),
                             .cpu_load = dice.chance(0.3) ? dice.real(0, 1) : 0});
    return ports;
}

/// From an idle team to one loaded above its capacity; even loads and heavy tails.
BucketLoads some_loads(Dice& dice, const std::vector<BalancedPort>& ports) {
    const double capacity =
        std::accumulate(ports.begin(), ports.end(), 1.0, [](double sum, const auto& port) {
            return sum + (port.capacity > 0 ? port.capacity : 125e6);
        });
    const double tail = dice.real(0, 3), busy = dice.chance(0.2) ? dice.real(0, 0.1) : dice.real(0.1, 1);
    BucketLoads loads{};
    double sum = 0;
    for (auto& load : loads)
        if (dice.chance(busy)) sum += load.bytes = std::pow(dice.real(1e-4, 1), -tail);
    const double scale = sum > 0 ? dice.real(0, 1.2) * capacity / sum : 0;
    for (auto& load : loads) {
        load.bytes *= scale;
        load.packets = load.bytes / dice.real(60, 60000);
        load.bulk = load.bytes * (dice.chance(0.4) ? 0 : dice.chance(0.5) ? 1 : dice.real(0, 1));
    }
    return loads;
}

Case some_case(std::uint32_t seed) {
    Dice dice(seed);
    Case some;
    some.ports = some_ports(dice);
    some.loads = some_loads(dice, some.ports);
    const bool unowned = dice.chance(0.3);
    for (auto& owner : some.owners)
        if (unowned || some.ports.empty())
            owner = Slot{static_cast<std::uint8_t>(dice.number(0, max_ports))};
        else
            owner =
                some.ports[static_cast<std::size_t>(dice.number(0, static_cast<int>(some.ports.size()) - 1))]
                    .slot;
    some.policy.aware = dice.chance(0.8);
    if (dice.chance(0.2)) some.policy.spill = dice.real(0.1, 1);
    if (const double share = dice.chance(0.3) ? dice.real(0, 0.5) : 0; share > 0)
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            some.resting[bucket] = dice.chance(share);
    return some;
}

Placement placed(const Case& some) {
    return place(some.owners, some.loads, some.ports, some.policy, some.resting);
}

const BalancedPort* port_of(const Case& some, Slot slot) {
    const auto found = std::ranges::find(some.ports, slot, &BalancedPort::slot);
    return found == some.ports.end() ? nullptr : &*found;
}

/// Bytes/s by weight of the fullest port.
double fullest(const Case& some, const BucketOwners& owners) {
    double sum = 0, known = 0;
    for (const auto& port : some.ports)
        if (port.capacity > 0) {
            sum += port.capacity;
            known += 1;
        }
    std::array<double, max_ports + 1> on{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        on[owners[bucket].value] += some.loads[bucket].bytes;
    double most = 0;
    for (const auto& port : some.ports) {
        const double capacity = port.capacity > 0 ? port.capacity : known > 0 ? sum / known : 1;
        const double weight = capacity * (some.policy.aware ? 1 - port.cpu_load / 2 : 1);
        most = std::max(most, on[port.slot.value] / weight);
    }
    return most;
}

double bulk_without_tso(const Case& some, const BucketOwners& owners) {
    double sum = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (const auto* port = port_of(some, owners[bucket]); port != nullptr && !port->segments)
            sum += some.loads[bucket].bulk;
    return sum;
}

/// The TSO ports have more bulk than their limit, so some may move to the others.
bool spills(const Case& some) {
    double bulk = 0, limit = 0;
    for (const auto& port : some.ports)
        if (port.segments) limit += port.capacity > 0 ? some.policy.spill * port.capacity : INFINITY;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (const auto* port = port_of(some, some.owners[bucket]); port != nullptr && port->segments)
            if (some.loads[bucket].bulk >= 0.4 * some.loads[bucket].bytes) bulk += some.loads[bucket].bytes;
    return some.policy.aware && bulk > limit;
}

bool any_without_owner(const Case& some) {
    return std::ranges::any_of(some.owners, [&some](Slot owner) { return port_of(some, owner) == nullptr; });
}

struct Placed {
    Case some;
    Placement placement;
};

/// The case of seed N is the one with index N - 1. Made once for all tests: that takes most of their time.
const std::vector<Placed>& placed_cases() {
    static const auto cases = [] {
        std::vector<Placed> made(5000);
        for (std::uint32_t index = 0; index < made.size(); ++index) {
            made[index].some = some_case(index + 1);
            made[index].placement = placed(made[index].some);
        }
        return made;
    }();
    return cases;
}

class PlacementProperties : public ::testing::Test {
protected:
    template <class Claim>
    static void always(Claim claim) {
        const auto& cases = placed_cases();
        for (std::size_t index = 0; index < cases.size() && !HasFailure(); ++index) {
            SCOPED_TRACE(::testing::Message() << "seed " << index + 1);
            claim(cases[index].some, cases[index].placement);
        }
    }
};

TEST_F(PlacementProperties, gives_every_bucket_a_port) {
    always([](const Case& some, const Placement& placement) {
        if (some.ports.empty()) return;
        for (const auto owner : placement.owners)
            ASSERT_NE(port_of(some, owner), nullptr);
    });
}

TEST_F(PlacementProperties, lists_every_move_once) {
    always([](const Case& some, const Placement& placement) {
        auto owners = some.owners;
        for (const auto& move : placement.moves) {
            ASSERT_EQ(owners[move.bucket], move.from) << "each bucket once";
            ASSERT_NE(move.from, move.to);
            ASSERT_GE(move.gain, 0) << name_of(move.reason);
            owners[move.bucket] = move.to;
        }
        ASSERT_EQ(owners, placement.owners);
    });
}

TEST_F(PlacementProperties, plans_sum_of_bucket_loads) {
    always([](const Case& some, const Placement& placement) {
        std::array<double, max_ports + 1> sums{};
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            sums[placement.owners[bucket].value] += some.loads[bucket].bytes;
        for (const auto& port : some.ports)
            ASSERT_DOUBLE_EQ(placement.planned[port.slot.value], sums[port.slot.value]);
        if (some.ports.empty()) return;
        const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
        ASSERT_NEAR(std::accumulate(placement.planned.begin(), placement.planned.end(), 0.0), all,
                    all * 1e-12);
    });
}

TEST_F(PlacementProperties, moves_nothing_when_repeated) {
    always([](const Case& some, const Placement& placement) {
        auto again = some;
        again.owners = placement.owners;
        ASSERT_THAT(placed(again).moves, ::testing::IsEmpty());
    });
}

TEST_F(PlacementProperties, never_fills_fullest_port_more_for_load) {
    always([](const Case& some, const Placement& placement) {
        const bool for_load = std::ranges::all_of(
            placement.moves, [](const BucketMove& move) { return move.reason == MoveReason::load; });
        if (some.ports.empty() || !for_load) return;
        // Spilling balances the kinds of ports, not single ports.
        const double slack = spills(some) ? some.policy.tolerance : 1e-9;
        ASSERT_LE(fullest(some, placement.owners), fullest(some, some.owners) * (1 + slack));
    });
}

TEST_F(PlacementProperties, never_adds_bulk_without_tso_unless_it_spills) {
    int checked = 0;
    always([&checked](const Case& some, const Placement& placement) {
        const auto unknown = [](const BalancedPort& port) { return port.segments && port.capacity <= 0; };
        // With a TSO port of unknown capacity nothing spills; a bucket with little bulk may go anywhere.
        if (!some.policy.aware || any_without_owner(some) || std::ranges::none_of(some.ports, unknown))
            return;
        auto bulk_only = some;
        for (auto& load : bulk_only.loads)
            if (load.bulk < 0.4 * load.bytes) load.bulk = 0;
        ASSERT_LE(bulk_without_tso(bulk_only, placement.owners),
                  bulk_without_tso(bulk_only, some.owners) * (1 + 1e-9));
        ++checked;
    });
    EXPECT_GT(checked, 300);
}

TEST_F(PlacementProperties, moves_idle_buckets_only_off_removed_ports) {
    always([](const Case& some, const Placement& placement) {
        for (const auto& move : placement.moves)
            ASSERT_TRUE(some.loads[move.bucket].bytes > 0 || move.reason == MoveReason::membership);
    });
}

TEST_F(PlacementProperties, moves_resting_buckets_only_off_removed_ports) {
    int resting = 0;
    always([&resting](const Case& some, const Placement& placement) {
        for (const auto& move : placement.moves) {
            ASSERT_TRUE(!some.resting[move.bucket] || move.reason == MoveReason::membership);
            resting += some.resting[move.bucket] ? 1 : 0;
        }
    });
    EXPECT_GT(resting, 300);
}

TEST_F(PlacementProperties, moves_little_after_small_changes) {
    std::size_t checked = 0;
    always([&checked](const Case& some, const Placement& placement) {
        if (some.ports.size() < 2) return;
        Dice dice(static_cast<std::uint32_t>(some.ports.size()));
        auto later = some;
        later.owners = placement.owners;
        double all = 0, most = 0;
        for (const auto& load : some.loads) {
            all += load.bytes;
            most = std::max(most, load.bytes);
        }
        // One per cent of a very large bucket may justify many moves.
        if (most * 40 > all) return;
        for (auto& load : later.loads) {
            const double factor = dice.real(0.99, 1.01);
            load = {.bytes = load.bytes * factor, .packets = load.packets, .bulk = load.bulk * factor};
        }
        ASSERT_LE(placed(later).moves.size(), 12U);
        ++checked;
    });
    EXPECT_GE(checked, 200U) << "or none of them was like that";
}

} // namespace
} // namespace teamo
