// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The steps of plan_interrupts(): how many CPUs each port gets, near which cache, and which ones.
#pragma once

#include "model/machine.h"

#include <optional>
#include <vector>

namespace teamo {

/// A port that needs a number of CPUs (cpu_counts.cpp).
struct CountedPort {
    int node = -1;
    unsigned fixed = 0; ///< CPUs that it keeps in any case
    unsigned most = 1;  ///< CPUs that it can use; at least `fixed`, and at least 1
    unsigned now = 0;   ///< CPUs that it has at present
    double load = 1;
};

/// By port. Each port gets one CPU, even if there are fewer CPUs than ports; then the port with the most load
/// per CPU gets the next one.
/// - Further CPUs are whole cores, because a second hardware thread does not help interrupts
///   (Documentation/networking/scaling.rst: "HT has shown no benefit in initial tests"), and are on the
///   port's own node, if that has any.
/// - A port keeps as many as it has now, unless the CPU lowers another port's load per CPU by a fifth.
/// `free`: eligible CPUs not in use. `taken`: CPUs in use.
std::vector<unsigned> cpu_counts(const CpuTopology& topology, const CpuList& free, const CpuList& taken,
                                 const std::vector<CountedPort>& ports);

/// A port that needs CPUs.
struct CpuRequest {
    int node = -1;
    unsigned count = 1;              ///< CPUs to assign
    unsigned weight = 1;             ///< cost of sharing a CPU with it; at least 1
    CpuList now{};                   ///< its present CPUs
    CpuList own{};                   ///< CPUs it keeps in any case; also in `taken`
    std::optional<unsigned> cache{}; ///< the cache that its CPUs should share
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

/// Sets `cache` of each taker of more than one CPU, so that the CPUs of a port share a cache and the ports do
/// not all use the same one: the cache of most of its present CPUs, else the cache of its node with the
/// smallest number of free cores that is enough.
void choose_caches(Assignment& assignment);

/// By taker. Minimizes the total cost (PlacementCost), in this order of rank:
/// - for each two ports on one CPU, the smaller weight;
/// - the distance of each CPU from the taker's node;
/// - each pair of hardware threads in use on one core;
/// - how slow each CPU is;
/// - each CPU that is not one of the taker's present ones;
/// - the distance from the taker's cache (`cache`);
/// - CPU 0, then the CPU numbers.
std::vector<CpuList> assign_cpus(const Assignment& assignment);

} // namespace teamo
