// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What it costs that a port's interrupts go to a CPU: ranks, of which a lower one only decides where all
// above are equal. docs/adr/0014.
#pragma once

#include <compare>
#include <cstdint>

namespace teamo {

/// Sums of costs compare rank by rank too: each rank has the room for the sum over every CPU that a kernel
/// can be built for (8192), so no rank carries into the one above.
struct PlacementCost {
    std::int64_t shares = 0; ///< a CPU with another port
    std::int64_t place = 0;  ///< what the CPU is to the port
    std::int64_t habit = 0;  ///< what else would do as well

    auto operator<=>(const PlacementCost&) const = default; // NOLINT(modernize-use-nullptr): as named.h

    PlacementCost operator+(const PlacementCost& other) const {
        return {shares + other.shares, place + other.place, habit + other.habit};
    }
    PlacementCost operator-(const PlacementCost& other) const {
        return {shares - other.shares, place - other.place, habit - other.habit};
    }
};

/// Two ports on one CPU; the heavier one's weight does not count, for it would be there anyway.
constexpr PlacementCost cost_of_sharing(std::int64_t weight) { return {weight, 0, 0}; }

/// `distance` as the kernel has it, at most 255; `slowness` from 0 (as fast as any) to 1024.
constexpr PlacementCost cost_of_place(std::int64_t distance, std::int64_t slowness) {
    return {0, (distance << 41) + slowness, 0};
}

/// One more thread of a core that has so many in use.
constexpr PlacementCost cost_of_siblings(std::int64_t in_use) { return {0, in_use << 24, 0}; }

/// `farness` from the port's other CPUs: 0 the same cache, 1 the same node, 2 elsewhere. CPU 0 comes last: it
/// has the timer, the boot's leftovers and whatever nobody placed.
constexpr PlacementCost cost_of_habit(bool move, std::int64_t farness, unsigned cpu) {
    const std::int64_t number = cpu == 0 ? 8192 : cpu;
    return {0, 0, (std::int64_t{move} << 44) + (farness << 28) + number};
}

} // namespace teamo
