// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Four ports, two with TSO off; eight bulk flows and 200 request/response flows.
#include "traffic.h"

#include "balance/balancer.h"
#include "balance/meters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace teamo::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto interval = 5s;
constexpr double seconds = 5, gigabit = 125e6;
constexpr int warm_up = 20, measured = 200; // intervals
constexpr std::size_t ports = 4;

std::vector<BalancedPort> two_with_tso_two_without() {
    std::vector<BalancedPort> list;
    for (std::uint8_t slot = 1; slot <= ports; ++slot)
        list.push_back({.slot = Slot{slot}, .capacity = gigabit, .segments = slot <= 2});
    return list;
}

BucketOwners quarters() {
    return assign_evenly(BucketOwners{}, bit(Slot{1}) | bit(Slot{2}) | bit(Slot{3}) | bit(Slot{4}));
}

/// Eight flows with `bulk` bytes/s together, and 200 flows with 100 to 300 kB/s each.
std::vector<Flow> bulk_and_requests(Engine& engine, double bulk) {
    std::vector<Flow> flows;
    for (int count = 0; count < 8; ++count)
        flows.push_back(
            {.bucket = random_bucket(engine), .bytes = bulk / 8, .packet = 40000, .gso_share = 0.98});
    for (int count = 0; count < 200; ++count)
        flows.push_back({.bucket = random_bucket(engine),
                         .bytes = 100e3 + 200e3 * uniform(engine),
                         .packet = 200,
                         .gso_share = 0});
    return flows;
}

using BySlot = std::array<double, max_ports + 1>;

struct Totals {
    BySlot left{}, planned{}, bulk{}; ///< bytes/s, summed over the intervals
    double farthest =
        0;        ///< largest difference from the plan in one interval, as a share of a port's capacity
    int near = 0; ///< intervals and ports that differed from the plan by at most 10 % of the capacity
    std::size_t moves = 0;
};

Totals run(std::uint32_t seed, double bulk) {
    Engine engine(seed);
    Traffic traffic(engine, bulk_and_requests(engine, bulk), {.noise = 0.1, .churn = 0});
    const auto carrying = two_with_tso_two_without();
    auto owners = quarters();
    LoadMeter meter(interval);
    LoadMeter::Time now{};
    Totals totals;
    for (int round = 0; round < warm_up + measured; ++round, now += interval) {
        const auto placement = place(owners, meter.step(traffic.counters(), now), carrying, {});
        owners = placement.owners;
        const auto counted = traffic.pass(seconds);
        if (round < warm_up) continue;
        totals.moves += placement.moves.size();
        BySlot left{};
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            left[owners[bucket].value] += static_cast<double>(counted[bucket].bytes) / seconds;
            totals.bulk[owners[bucket].value] += static_cast<double>(counted[bucket].gso_bytes) / seconds;
        }
        for (std::size_t slot = 1; slot <= ports; ++slot) {
            totals.left[slot] += left[slot];
            totals.planned[slot] += placement.planned[slot];
            const double off = std::abs(left[slot] - placement.planned[slot]) / gigabit;
            totals.farthest = std::max(totals.farthest, off);
            totals.near += off <= 0.1;
        }
    }
    return totals;
}

TEST(BulkPlacement, keeps_95_percent_of_bulk_on_tso_ports) {
    std::printf("bulk flows seed | bulk by capable | left of capacity, port 1 to 4    | farthest | moves\n");
    for (const double bulk : {60e6, 120e6, 180e6})
        for (std::uint32_t seed = 1; seed <= last_seed(5); ++seed) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed << ", bulk " << bulk);
            const auto totals = run(seed, bulk);
            const auto& by = totals.bulk;
            const double share = (by[1] + by[2]) / (by[1] + by[2] + by[3] + by[4]);
            const auto part = [&totals](std::size_t slot) {
                return totals.left[slot] / measured / gigabit * 100;
            };
            std::printf(
                "%6.0f MB/s %4u | %13.1f %% | %6.1f %% %6.1f %% %6.1f %% %6.1f %% | %6.1f %% | %5zu\n",
                bulk / 1e6, seed, share * 100, part(1), part(2), part(3), part(4), totals.farthest * 100,
                totals.moves);
            EXPECT_GE(share, 0.95);
            for (std::size_t slot = 1; slot <= ports; ++slot)
                EXPECT_NEAR(totals.left[slot], totals.planned[slot], totals.planned[slot] * 0.1);
            // The plan knows the past but not the noise of the next interval, which is visible with four
            // flows per port.
            EXPECT_GE(totals.near, static_cast<int>(ports) * measured * 95 / 100);
        }
}

/// Bulk is near the capacity of the TSO ports, so noise fills them in some intervals only. Spilled bulk
/// returns only with spare room: without that rule there are 9 moves per interval, with half the room 5.
TEST(BulkPlacement, moves_little_near_capacity_of_tso_ports) {
    std::printf("bulk seed | bulk by capable | moves an interval\n");
    for (const double bulk : {200e6, 210e6, 220e6, 225e6, 230e6, 240e6, 250e6})
        for (std::uint32_t seed = 1; seed <= last_seed(5); ++seed) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed << ", bulk " << bulk);
            const auto totals = run(seed, bulk);
            const auto& by = totals.bulk;
            const double moves = static_cast<double>(totals.moves) / measured;
            std::printf("%4.0f %4u | %13.1f %% | %5.2f\n", bulk / 1e6, seed,
                        (by[1] + by[2]) / (by[1] + by[2] + by[3] + by[4]) * 100, moves);
            EXPECT_LT(moves, 4.5);
        }
}

/// Bulk over TCP: the flows of a port share its bandwidth, measured as 0.94 of its capacity.
class Elastic {
public:
    explicit Elastic(std::uint32_t seed) : engine_(seed) {
        while (flows_.size() < 8)
            flows_.insert(random_bucket(engine_));
    }

    /// Bytes/s that left by each port.
    BySlot pass(const BucketOwners& owners) {
        BySlot flows{}, left{};
        for (const auto bucket : flows_)
            ++flows[owners[bucket].value];
        for (const auto bucket : flows_) {
            const auto slot = owners[bucket].value;
            const double noise = 1 + 0.02 * (uniform(engine_) - 0.5);
            const double bytes = 0.94 * gigabit / flows[slot] * noise;
            left[slot] += bytes;
            counters_[bucket].bytes += static_cast<std::uint64_t>(bytes * seconds);
            counters_[bucket].packets += static_cast<std::uint64_t>(bytes * seconds / 40000);
            counters_[bucket].gso_bytes += static_cast<std::uint64_t>(bytes * seconds);
        }
        return left;
    }
    const AllBucketCounters& counters() const { return counters_; }
    bool all_on_tso_ports(const BucketOwners& owners) const {
        return std::ranges::all_of(flows_,
                                   [&owners](std::uint8_t bucket) { return owners[bucket].value <= 2; });
    }

private:
    Engine engine_;
    std::set<std::uint8_t> flows_;
    AllBucketCounters counters_{};
};

TEST(BulkPlacement, prefers_throughput_for_elastic_bulk) {
    for (std::uint32_t seed = 1; seed <= last_seed(20); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Elastic bulk(seed);
        auto owners = quarters();
        for (auto& owner : owners) // all bulk starts on one TSO port
            owner = Slot{1};
        LoadMeter meter(interval);
        LoadMeter::Time now{};
        std::size_t late_moves = 0;
        BySlot left{};
        for (int round = 0; round < 200; ++round, now += interval) {
            const auto placement =
                place(owners, meter.step(bulk.counters(), now), two_with_tso_two_without(), {});
            owners = placement.owners;
            if (round >= 100) late_moves += placement.moves.size();
            left = bulk.pass(owners);
        }
        EXPECT_GT(std::accumulate(left.begin(), left.end(), 0.0), 3.6 * gigabit);
        EXPECT_FALSE(bulk.all_on_tso_ports(owners));
        EXPECT_EQ(late_moves, 0U);
    }
}

} // namespace
} // namespace teamo::simulation
