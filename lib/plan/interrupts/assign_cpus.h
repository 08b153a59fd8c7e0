// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assigns CPUs to ports, once the number for each port is known (cpu_counts.h).
#pragma once

#include "model/cpus.h"

#include <optional>
#include <vector>

namespace teamo {

/// A port that needs CPUs.
struct CpuRequest {
    int node = -1;
    unsigned count = 1;             ///< CPUs to assign
    unsigned weight = 1;            ///< cost of sharing a CPU with it; at least 1
    CpuList now{};                  ///< its present CPUs
    CpuList own{};                  ///< CPUs it keeps in any case; also in `taken`
    std::optional<unsigned> home{}; ///< the cache that its CPUs should share
    bool operator==(const CpuRequest&) const = default;
};

/// A CPU in use by a port or a claim.
struct TakenCpu {
    unsigned cpu = 0;
    unsigned weight = 1;
};

struct Assignment {
    const CpuTopology* topology = nullptr;
    CpuList eligible;
    /// If a port needs several CPUs, the free eligible CPUs must suffice for all counts.
    std::vector<CpuRequest> takers;
    std::vector<TakenCpu> taken{};
};

/// By taker. Minimizes the total cost (placement_cost.h), in this order of rank:
/// - for each two ports on one CPU, the smaller weight;
/// - the distance of each CPU from the taker's node;
/// - each pair of hardware threads in use on one core;
/// - how slow each CPU is;
/// - each CPU that is not one of the taker's present ones;
/// - the distance from the taker's cache (`home`);
/// - CPU 0, then the CPU numbers.
std::vector<CpuList> assign_cpus(const Assignment& assignment);

} // namespace teamo
