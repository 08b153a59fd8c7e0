// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Minimum-cost flow by successive shortest paths (Ahuja, Magnanti, Orlin 1993, 9.7), one unit at a time.
#pragma once

#include "plan/interrupts/placement_cost.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace teamo {

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
