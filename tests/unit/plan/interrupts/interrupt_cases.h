// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Machines and ports for the tests of the interrupt plan.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>

namespace teamo {

using testing::Pair;

/// One node, no siblings, one cache.
inline CpuTopology flat(unsigned count) {
    CpuTopology topology;
    for (unsigned number = 0; number < count; ++number)
        topology.cpus.push_back({.number = number, .core = number});
    return topology;
}

/// CPUs as Linux numbers them on x86: first threads of node 0, of node 1, ..., then the second threads.
inline CpuTopology server(unsigned nodes, unsigned cores, unsigned threads, unsigned cores_per_cache) {
    CpuTopology topology;
    for (unsigned number = 0; number < nodes * cores * threads; ++number) {
        const auto core = number % (nodes * cores);
        topology.cpus.push_back({.number = number,
                                 .core = core,
                                 .cache = core / cores_per_cache * cores_per_cache,
                                 .node = core / cores});
    }
    topology.distances.assign(nodes, std::vector<unsigned>(nodes, 21));
    for (unsigned node = 0; node < nodes; ++node)
        topology.distances[node][node] = 10;
    return topology;
}

inline std::vector<PlannedPort> ports(unsigned count, const std::string& prefix = "eth", unsigned queues = 1,
                                      int node = -1) {
    std::vector<PlannedPort> list;
    for (unsigned number = 0; number < count; ++number)
        list.push_back({.name = prefix + std::to_string(number), .node = node, .queues = queues, .now = {}});
    return list;
}

/// The ports after the plan was applied.
inline std::vector<PlannedPort> after(const InterruptPlan& plan, std::vector<PlannedPort> list) {
    for (auto& port : list)
        for (const auto& placed : plan.ports)
            if (placed.name == port.name) port.now = placed.cpus;
    return list;
}

inline std::vector<CpuClaim> claims_of(const InterruptPlan& plan, const std::string& team) {
    std::vector<CpuClaim> claims;
    for (const auto& port : plan.ports)
        for (const auto cpu : std::set<unsigned>(port.cpus.begin(), port.cpus.end()))
            claims.push_back({.owner = team + ' ' + port.name, .cpu = cpu});
    return claims;
}

/// The CPU of the first queue of each port.
inline std::vector<unsigned> firsts(const InterruptPlan& plan) {
    std::vector<unsigned> cpus;
    for (const auto& port : plan.ports)
        cpus.push_back(port.cpus.at(0));
    return cpus;
}

inline CpuList cpus_of(const PlacedPort& port) {
    const std::set<unsigned> cpus(port.cpus.begin(), port.cpus.end());
    return {cpus.begin(), cpus.end()};
}

/// The number of ports by CPU, for CPUs that serve a port.
inline std::map<unsigned, unsigned> ports_by_cpu(const InterruptPlan& plan) {
    std::map<unsigned, unsigned> count;
    for (const auto& port : plan.ports)
        for (const auto cpu : cpus_of(port))
            ++count[cpu];
    return count;
}

inline std::vector<std::string> moved_ports(const InterruptPlan& plan) {
    std::vector<std::string> names;
    for (const auto& port : plan.ports)
        if (port.moves) names.push_back(port.name);
    return names;
}

// ---- random ones -------------------------------------------------------------------------------

class Random {
public:
    explicit Random(unsigned seed) : numbers_(seed) {}
    unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(numbers_); }
    bool chance(double probability) { return std::bernoulli_distribution(probability)(numbers_); }

private:
    std::mt19937 numbers_;
};

/// A random seed, or TEAMO_SEED if set. Prints it.
inline unsigned seed_of_test() {
    const auto* given = std::getenv("TEAMO_SEED"); // NOLINT(concurrency-mt-unsafe)
    const auto seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
    std::cout << "TEAMO_SEED=" << seed << '\n';
    return seed;
}

inline CpuTopology random_topology(Random& random, unsigned count) {
    CpuTopology topology;
    const auto nodes = 1 + random.below(3), threads = 1 + random.below(3),
               per_cache = threads * (1 + random.below(2));
    for (unsigned number = 0; number < count; ++number)
        topology.cpus.push_back({.number = number,
                                 .core = number / threads * threads,
                                 .cache = number / per_cache * per_cache,
                                 .node = number / per_cache % nodes,
                                 .capacity = random.chance(0.2) ? 512U : 1024U});
    topology.distances.assign(nodes, std::vector<unsigned>(nodes, 10));
    for (unsigned from = 0; from < nodes; ++from)
        for (unsigned to = 0; to < nodes; ++to)
            if (from != to) topology.distances[from][to] = 11 + 10 * random.below(3);
    return topology;
}

inline CpuList random_cpus(Random& random, unsigned count, double probability) {
    CpuList cpus;
    for (unsigned number = 0; number < count; ++number)
        if (random.chance(probability)) cpus.push_back(number);
    return cpus;
}

} // namespace teamo
