// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Minimum-cost flow by successive shortest paths (Ahuja, Magnanti, Orlin 1993, 9.7), one unit at a time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace teamo {

/// The cost of a CPU for a port's interrupts, in ranks: a lower rank decides only if all higher ranks are
/// equal. docs/adr/0014. Sums compare rank by rank too: each rank can hold the sum over as many CPUs as a
/// kernel supports (8192) without an overflow into the next rank.
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

class MinCostFlow {
public:
    using Node = std::uint32_t;
    using Arc = std::size_t;

    explicit MinCostFlow(std::size_t nodes)
        : arcs_of_(nodes), potential_(nodes), distance_(nodes), arc_to_(nodes) {}

    /// An arc with capacity 1. Costs must not be negative.
    Arc add(Node from, Node to, const PlacementCost& cost);
    /// Sends one more unit at the least total cost of all units; false: no path is left. Of paths with equal
    /// cost it takes the one over nodes with low numbers, so that the result is deterministic.
    bool send(Node from, Node to);
    bool carries(Arc arc) const { return !arcs_[arc].open; }

private:
    struct HalfArc {
        Node to = 0;
        bool open = false;
        PlacementCost cost; ///< a reverse arc has the negative cost
    };
    using Reached = std::pair<PlacementCost, Node>;

    void search(Node from, Node to);
    void relax_arcs(Node node, Node to);

    std::vector<HalfArc> arcs_; ///< each next to its reverse
    std::vector<std::vector<std::uint32_t>> arcs_of_;
    std::vector<PlacementCost> potential_; ///< keep reduced costs of open arcs at 0 or above
    std::vector<PlacementCost> distance_;
    std::vector<std::uint32_t> arc_to_; ///< by node: the last arc of the path to it
    std::vector<Reached> heap_;
    std::vector<Node> settled_;
};

} // namespace teamo
