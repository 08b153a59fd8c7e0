// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planning time on the largest machines and for the largest teams.
#include "balance/balancer.h"
#include "interrupt_cases.h"
#include "support/figure.h"

#include <gmock/gmock.h>

#include <chrono>

namespace teamo {
namespace {

std::vector<double> milliseconds(const InterruptPlanInput& input) {
    std::vector<double> times;
    for (int run = 0; run < 7; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        const auto plan = plan_interrupts(input);
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        EXPECT_FALSE(plan.ports.empty());
    }
    return times;
}

/// 64 ports, spread over 4 nodes.
std::vector<PlannedPort> on_four_nodes(unsigned queues) {
    auto list = ports(64, "eth", queues);
    for (std::size_t index = 0; index < list.size(); ++index)
        list[index].node = static_cast<int>(index % 4);
    return list;
}

void takes(const std::string& what, const InterruptPlanInput& input, double promised) {
    EXPECT_TRUE(
        test::at_most(what + ", ms", milliseconds(input), {.promised = promised, .defect = 5 * promised}));
}

TEST(PlanSpeed, plans_64_ports_on_512_cpus_in_10_ms) {
    const auto topology = server(4, 64, 2, 8);
    takes("64 ports on 4 nodes, 512 CPUs", {&topology, on_four_nodes(1)}, 10);
    takes("64 ports of one node, 512 CPUs", {&topology, ports(64, "eth", 1, 0)}, 10);
    takes("64 ports of no node, 512 CPUs", {&topology, ports(64)}, 10);
    takes("64 ports with 4 queues, 512 CPUs", {&topology, on_four_nodes(4)}, 10);
    takes("64 ports with 8 queues, 512 CPUs", {&topology, on_four_nodes(8)}, 10);
    takes("64 ports on 16 CPUs of 512", {&topology, on_four_nodes(1), parse_cpu_list("0-15").value()}, 10);
    auto crowded = on_four_nodes(1); // no two ports alike
    for (std::size_t index = 0; index < crowded.size(); ++index)
        crowded[index].now = {static_cast<unsigned>(index * 7 % 24)};
    takes("64 ports, now on 24 CPUs of 512", {&topology, crowded}, 10);
    const auto plan = plan_interrupts({&topology, on_four_nodes(4)});
    takes("as before", {&topology, after(plan, on_four_nodes(4))}, 10);
}

/// 256 buckets with Zipf-distributed loads in random order, all on one of eight ports of two kinds.
std::vector<double> milliseconds_of_placing(std::mt19937& random) {
    BucketLoads loads{};
    std::vector<double> shares;
    for (std::size_t rank = 1; rank <= loads.size(); ++rank)
        shares.push_back(40e6 / static_cast<double>(rank));
    std::ranges::shuffle(shares, random);
    for (std::size_t bucket = 0; bucket < loads.size(); ++bucket)
        loads[bucket] = {
            .bytes = shares[bucket], .packets = shares[bucket] / 1'000, .bulk = shares[bucket] / 2};
    std::vector<BalancedPort> ports;
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        ports.push_back({.slot = Slot{slot}, .capacity = 125e6, .segments = slot % 2 == 0});
    BucketOwners owners{};
    owners.fill(Slot{1});
    std::vector<double> times;
    for (int run = 0; run < 7; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        const auto placed = place(owners, loads, ports, {});
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        EXPECT_FALSE(placed.moves.empty());
    }
    return times;
}

TEST(PlanSpeed, places_256_buckets_on_8_ports_in_1_ms) {
    std::mt19937 random(20261122);
    std::vector<double> shortest;
    for (int round = 0; round < 100; ++round)
        shortest.push_back(std::ranges::min(milliseconds_of_placing(random)));
    EXPECT_TRUE(
        test::at_most("the longest of 100, ms", std::ranges::max(shortest), {.promised = 1, .defect = 5}));
}

} // namespace
} // namespace teamo
