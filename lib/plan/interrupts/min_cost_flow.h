// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Minimum-cost flow by successive shortest ways (Ahuja, Magnanti, Orlin 1993, 9.7), a unit at a time.
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

    explicit MinCostFlow(std::size_t nodes) : arcs_of_(nodes), price_(nodes), distance_(nodes), way_(nodes) {}

    /// For one unit. No cost is below nothing.
    Arc add(Node from, Node to, const PlacementCost& cost);
    /// Sends one unit more, so that all sent so far cost least together; false: there is no way for it. Of
    /// ways that cost the same it takes the one over nodes with low numbers, so the answer depends on nothing
    /// else.
    bool send(Node from, Node to);
    bool carries(Arc arc) const { return !arcs_[arc].open; }

private:
    struct HalfArc {
        Node to = 0;
        bool open = false;
        PlacementCost cost; ///< taking back what an arc carries earns what it cost
    };
    using Reached = std::pair<PlacementCost, Node>;

    void search(Node from, Node to);
    void look_around(Node node, Node to);

    std::vector<HalfArc> arcs_; ///< each beside its reverse
    std::vector<std::vector<std::uint32_t>> arcs_of_;
    std::vector<PlacementCost> price_; ///< with them no open arc costs less than nothing: no node twice
    std::vector<PlacementCost> distance_;
    std::vector<std::uint32_t> way_; ///< the arc a node was reached by
    std::vector<Reached> heap_;
    std::vector<Node> settled_;
};

} // namespace teamo
