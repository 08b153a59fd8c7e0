// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Machines and ports for the tests of the interrupt plan.
#pragma once

#include "plan/interrupt_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace teamo {

using testing::Pair;

/// One node, no siblings, one cache.
inline CpuTopology flat(unsigned count) {
    CpuTopology topology;
    for (unsigned number = 0; number < count; ++number)
        topology.cpus.push_back({number, number});
    return topology;
}

/// CPUs as Linux numbers them on x86: first threads of node 0, of node 1, ..., then the second threads.
inline CpuTopology server(unsigned nodes, unsigned cores, unsigned threads, unsigned cores_per_cache) {
    CpuTopology topology;
    for (unsigned number = 0; number < nodes * cores * threads; ++number) {
        const auto core = number % (nodes * cores);
        topology.cpus.push_back({number, core, core / cores_per_cache * cores_per_cache, core / cores});
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
        list.push_back({prefix + std::to_string(number), node, queues, {}});
    return list;
}

/// As they are when the plan was followed.
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
            claims.push_back({team + ' ' + port.name, cpu});
    return claims;
}

/// Each port's first queue's CPU.
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

/// How many ports each CPU serves that serves any.
inline std::map<unsigned, unsigned> ports_by_cpu(const InterruptPlan& plan) {
    std::map<unsigned, unsigned> count;
    for (const auto& port : plan.ports)
        for (const auto cpu : cpus_of(port))
            ++count[cpu];
    return count;
}

inline std::vector<std::string> who_moves(const InterruptPlan& plan) {
    std::vector<std::string> names;
    for (const auto& port : plan.ports)
        if (port.moves) names.push_back(port.name);
    return names;
}

} // namespace teamo
