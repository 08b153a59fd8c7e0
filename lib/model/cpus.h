// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPUs of this machine as the kernel shows them (/sys/devices/system).
#pragma once

#include "base/cpu_list.h"

#include <algorithm>
#include <vector>

namespace teamo {

struct Cpu {
    unsigned number = 0;
    unsigned core = 0;        ///< number of the lowest CPU of its core (topology/core_cpus_list)
    unsigned cache = 0;       ///< number of the lowest CPU that shares its last-level cache
    unsigned node = 0;        ///< NUMA node; 0 on machines without NUMA
    unsigned capacity = 1024; ///< cpu_capacity; 1024: the fastest CPUs
    bool online = true;
    bool isolated = false; ///< isolcpus, nohz_full, or in an isolated cpuset partition
    bool operator==(const Cpu&) const = default;
};

struct CpuTopology {
    std::vector<Cpu> cpus; ///< all present CPUs, sorted by number
    /// [from][to] from node/nodeN/distance; 10: the same node. Empty: one node.
    std::vector<std::vector<unsigned>> distances;
    bool operator==(const CpuTopology&) const = default;

    const Cpu* find(unsigned number) const {
        const auto found = std::ranges::lower_bound(cpus, number, {}, &Cpu::number);
        return found == cpus.end() || found->number != number ? nullptr : &*found;
    }
    /// From a device's node to a CPU's; 10 if the device has no node or the distance is not known.
    unsigned distance(int from, unsigned to) const {
        constexpr unsigned local = 10;
        if (from < 0 || static_cast<std::size_t>(from) >= distances.size()) return local;
        const auto& row = distances[static_cast<std::size_t>(from)];
        return to < row.size() ? row[to] : local;
    }
};

} // namespace teamo
