// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The cost of a CPU for a port's interrupts, in ranks: a lower rank decides only if all higher ranks are
// equal. docs/adr/0014.
#pragma once

#include <compare>
#include <cstdint>

namespace teamo {

/// Sums compare rank by rank too: each rank can hold the sum over as many CPUs as a kernel supports (8192)
/// without an overflow into the next rank.
struct PlacementCost {
    std::int64_t shares = 0; ///< for sharing the CPU with another port
    std::int64_t place = 0;  ///< for NUMA distance, core siblings and a slow CPU
    std::int64_t habit = 0;  ///< tie-breakers: moves, distance between the port's CPUs, CPU number

    auto operator<=>(const PlacementCost&) const = default; // NOLINT(modernize-use-nullptr): as named.h

    PlacementCost operator+(const PlacementCost& other) const {
        return {shares + other.shares, place + other.place, habit + other.habit};
    }
    PlacementCost operator-(const PlacementCost& other) const {
        return {shares - other.shares, place - other.place, habit - other.habit};
    }
};

/// For two ports on one CPU. `weight`: of the lighter port.
constexpr PlacementCost cost_of_sharing(std::int64_t weight) { return {weight, 0, 0}; }

/// `distance`: the kernel's NUMA distance, at most 255. `slowness`: 0 (the fastest CPUs) to 1024.
constexpr PlacementCost cost_of_place(std::int64_t distance, std::int64_t slowness) {
    return {0, (distance << 41) + slowness, 0};
}

/// For one more hardware thread of a core with `in_use` threads in use.
constexpr PlacementCost cost_of_siblings(std::int64_t in_use) { return {0, in_use << 24, 0}; }

/// `farness` from the port's other CPUs: 0 same cache, 1 same node, 2 another node. CPU 0 comes last: it has
/// the timer, what started at boot, and all interrupts without an affinity.
constexpr PlacementCost cost_of_habit(bool move, std::int64_t farness, unsigned cpu) {
    const std::int64_t number = cpu == 0 ? 8192 : cpu;
    return {0, 0, (std::int64_t{move} << 44) + (farness << 28) + number};
}

} // namespace teamo
