// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/min_cost_flow.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace teamo {
namespace {
constexpr PlacementCost unreached{std::numeric_limits<std::int64_t>::max(), 0, 0};
} // namespace

MinCostFlow::Arc MinCostFlow::add(Node from, Node to, const PlacementCost& cost) {
    const auto arc = arcs_.size();
    arcs_.push_back({to, true, cost});
    arcs_.push_back({from, false, PlacementCost{} - cost});
    arcs_of_[from].push_back(static_cast<std::uint32_t>(arc));
    arcs_of_[to].push_back(static_cast<std::uint32_t>(arc + 1));
    return arc;
}

bool MinCostFlow::send(Node from, Node to) {
    std::ranges::fill(distance_, unreached);
    search(from, to);
    const auto length = distance_[to];
    if (length == unreached) return false;
    // Nodes that were not settled are at least as far away as the end: their potentials may stay.
    for (const auto node : settled_)
        potential_[node] = potential_[node] + distance_[node] - length;
    for (auto node = to; node != from;) {
        auto& arc = arcs_[arc_to_[node]];
        auto& back = arcs_[arc_to_[node] ^ 1U];
        arc.open = false;
        back.open = true;
        node = back.to;
    }
    return true;
}

/// Dijkstra's algorithm, until the end is settled.
void MinCostFlow::search(Node from, Node to) {
    heap_.clear();
    settled_.clear();
    distance_[from] = {};
    heap_.emplace_back(PlacementCost{}, from);
    while (!heap_.empty()) {
        std::ranges::pop_heap(heap_, std::greater<>{});
        const auto [distance, node] = heap_.back();
        heap_.pop_back();
        if (node == to) return;
        if (distance != distance_[node]) continue; // a shorter path was found since
        settled_.push_back(node);
        relax_arcs(node, to);
    }
}

void MinCostFlow::relax_arcs(Node node, Node to) {
    const auto base = distance_[node] + potential_[node];
    for (const auto index : arcs_of_[node]) {
        const auto& arc = arcs_[index];
        if (!arc.open) continue;
        const auto distance = base + arc.cost - potential_[arc.to];
        // A node that is not nearer than the end is on no shorter path to it.
        if (!(distance < distance_[arc.to]) || !(distance < distance_[to])) continue;
        distance_[arc.to] = distance;
        arc_to_[arc.to] = index;
        heap_.emplace_back(distance, arc.to);
        std::ranges::push_heap(heap_, std::greater<>{});
    }
}

} // namespace teamo
