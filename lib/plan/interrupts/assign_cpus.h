// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Who gets which CPUs, when it is settled how many each gets.
#pragma once

#include "model/cpus.h"

#include <optional>
#include <vector>

namespace teamo {

/// A port that is to get CPUs.
struct CpuRequest {
    int node = -1;
    unsigned count = 1;             ///< of CPUs to be given to it
    unsigned weight = 1;            ///< of sharing a CPU with it; at least 1
    CpuList now{};                  ///< where it is
    CpuList own{};                  ///< it has these already; also among `taken`
    std::optional<unsigned> home{}; ///< the cache that its CPUs should have in common
    bool operator==(const CpuRequest&) const = default;
};

/// A CPU that somebody has.
struct TakenCpu {
    unsigned cpu = 0;
    unsigned weight = 1;
};

struct Assignment {
    const CpuTopology* topology = nullptr;
    CpuList eligible;
    /// Where one is to get more than one CPU, there are eligible ones that nobody has for the counts of all.
    std::vector<CpuRequest> takers;
    std::vector<TakenCpu> taken{};
};

/// By taker: so that the cost (placement_cost.h) of all together is the least there is:
/// - of any two on a CPU, the lighter one's weight;
/// - the distance of each CPU from the taker's node;
/// - of any two hardware threads in use on a core, one;
/// - how slow each CPU is;
/// - each CPU that is not among the taker's present ones;
/// - how far from its home;
/// - CPU 0 before others, then the numbers.
std::vector<CpuList> assign_cpus(const Assignment& assignment);

} // namespace teamo
