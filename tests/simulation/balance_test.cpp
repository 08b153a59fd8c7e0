// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The balancer over hours of traffic, beside libteam's and beside none, on the same trace.
#include "basic_balancer.h"
#include "traffic.h"

#include "runner/balancer.h"
#include "runner/load_meter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace teamo::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto interval = 5s; // teamd's balancing_interval
constexpr double seconds = 5;
constexpr int warm_up = 20, measured = 200; // intervals
constexpr std::array<std::uint32_t, 5> seeds{1, 2, 3, 4, 5};

std::vector<Slot> slots(int count) {
    std::vector<Slot> list;
    for (int slot = 1; slot <= count; ++slot)
        list.push_back(Slot{static_cast<std::uint8_t>(slot)});
    return list;
}

SlotSet set_of(const std::vector<Slot>& list) {
    return std::accumulate(list.begin(), list.end(), SlotSet{0},
                           [](SlotSet set, Slot slot) { return set | bit(slot); });
}

std::array<double, bucket_count> bytes_of(const AllBucketCounters& left) {
    std::array<double, bucket_count> bytes{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        bytes[bucket] = static_cast<double>(left[bucket].bytes);
    return bytes;
}

std::size_t differences(const Homes& one, const Homes& other) {
    std::size_t count = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        count += one[bucket] != other[bucket];
    return count;
}

/// The load of the fullest port over the mean of all.
double fullest(const Homes& homes, const std::array<double, bucket_count>& bytes, std::size_t ports) {
    std::array<double, max_ports + 1> on{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        on[homes[bucket].value] += bytes[bucket];
    return std::ranges::max(on) * static_cast<double>(ports) / std::accumulate(on.begin(), on.end(), 0.0);
}

/// One way to place buckets, and what came of it after the warm-up.
struct Contestant {
    Homes homes{};
    double actual = 0;   ///< what left in each interval: fullest over mean, summed
    double expected = 0; ///< the same of the flows' mean rates: what the placement is worth without noise
    std::size_t moves = 0;

    void score(const AllBucketCounters& left, const Traffic& traffic, std::size_t ports) {
        actual += fullest(homes, bytes_of(left), ports) / measured;
        expected += fullest(homes, traffic.expected(), ports) / measured;
    }
    double moves_per_interval() const { return static_cast<double>(moves) / measured; }
};

struct Outcome {
    Contestant ours, basic, fixed;
    double largest = 0; ///< the largest bucket over a port's fair share, at any time
};

Outcome contest(std::uint32_t seed, double exponent, int port_count, Unrest unrest) {
    Engine engine(seed);
    Traffic traffic(engine, zipf_flows(engine, 2000, exponent, 100e6), unrest);
    const auto ports = slots(port_count);
    std::vector<BalancedPort> carrying;
    for (const auto slot : ports)
        carrying.push_back({.slot = slot, .capacity = 125e6});
    Outcome outcome;
    outcome.ours.homes = outcome.basic.homes = outcome.fixed.homes = rehome(Homes{}, set_of(ports));
    LoadMeter meter(interval);
    LoadMeter::Time now{};
    for (int round = 0; round < warm_up + measured; ++round, now += interval) {
        const auto loads = meter.step(traffic.counters(), now);
        const auto placement = place(outcome.ours.homes, loads, carrying, {});
        const auto left = traffic.pass(seconds);
        if (round >= warm_up) outcome.ours.moves += placement.moves.size();
        outcome.ours.homes = placement.homes;
        if (round >= warm_up) {
            for (auto* one : {&outcome.ours, &outcome.basic, &outcome.fixed})
                one->score(left, traffic, ports.size());
            const auto bytes = traffic.expected();
            outcome.largest = std::max(outcome.largest, std::ranges::max(bytes) * port_count / 100e6);
        }
        const auto next = basic_balancer(outcome.basic.homes, bytes_of(left), ports);
        if (round >= warm_up) outcome.basic.moves += differences(outcome.basic.homes, next);
        outcome.basic.homes = next;
    }
    return outcome;
}

void print_head(const char* title, Unrest unrest) {
    std::printf("%s: noise %.0f %%, churn %.2f %% of flows per interval\n", title, unrest.noise * 100,
                unrest.churn * 100);
    std::printf("%-9s%-6s%-5s%-9s| %-22s%-6s| %-22s%-6s| %s\n", "exponent", "ports", "seed", "largest",
                "ours max/mean (noise)", "moves", "basic max/mean (noise)", "moves", "static");
}

void print(double exponent, int ports, std::uint32_t seed, const Outcome& outcome) {
    std::printf("%-9.1f%-6d%-5u%-9.2f| %-6.3f (%.3f)       %6.2f | %-6.3f (%.3f)       %6.1f | %.3f\n",
                exponent, ports, seed, outcome.largest, outcome.ours.expected, outcome.ours.actual,
                outcome.ours.moves_per_interval(), outcome.basic.expected, outcome.basic.actual,
                outcome.basic.moves_per_interval(), outcome.fixed.expected);
}

void explore(const char* title, Unrest unrest) {
    print_head(title, unrest);
    for (const double exponent : {0.8, 1.0, 1.2, 1.4})
        for (const int ports : {2, 4, 8})
            for (const auto seed : seeds)
                print(exponent, ports, seed, contest(seed, exponent, ports, unrest));
}

TEST(Balance, explore) {
    explore("steady", {.noise = 0.1, .churn = 0.001});
    explore("noisy", {.noise = 0.3, .churn = 0.01});
}

} // namespace
} // namespace teamo::simulation
