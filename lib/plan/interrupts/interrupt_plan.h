// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assigns the ports' interrupts to CPUs at minimum cost. docs/adr/0014.
#pragma once

#include "model/interrupts.h"
#include "model/machine.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A port whose interrupts need CPUs.
struct PlannedPort {
    std::string name;          ///< unique
    int node = -1;             ///< NUMA node of its device; -1: any
    unsigned queues = 1;       ///< with vectors of their own, so the most CPUs it can use; at least 1
    std::vector<unsigned> now; ///< by queue: its present CPU; empty: not known yet
    std::vector<std::optional<unsigned>>
        fixed{};                 ///< by queue: the CPU of a managed interrupt; empty: all are movable
    std::vector<double> loads{}; ///< by queue: share of the port's packets; empty: equal
    double load = 1;             ///< relative to the other ports: packets, or speed
    bool standby = false;        ///< does not carry while other ports do
    bool is_new = false;         ///< `now` is no plan's, but the kernel's or another program's
    bool operator==(const PlannedPort&) const = default;

    /// The CPU on which the kernel keeps the queue; none if it is movable.
    std::optional<unsigned> fixed_cpu(std::size_t queue) const {
        return queue < fixed.size() ? fixed[queue] : std::nullopt;
    }
};

/// From the present state of a port. A port without vectors has no queues and must not be planned.
PlannedPort planned_port(std::string name, const PortInterrupts& port);

struct InterruptPlanInput {
    const CpuTopology* topology = nullptr;
    std::vector<PlannedPort> ports; ///< in any order
    CpuList allowed{};              ///< by configuration; empty: all CPUs that may have interrupts
    std::vector<CpuClaim> claims{};
};

struct PlacedPort {
    std::string name;
    std::vector<unsigned> cpus;             ///< by queue; empty: there is no eligible CPU
    std::vector<std::string> shares_with{}; ///< ports and claims that share a CPU with it
    std::string reason{};                   ///< one line, for the user
    bool moves = false;                     ///< at least one queue is on another CPU now
};

struct InterruptPlan {
    std::vector<PlacedPort> ports; ///< in the order of the input
    std::string degraded;          ///< why not every port has a CPU of its own; empty: each has
};

InterruptPlan plan_interrupts(const InterruptPlanInput& input);

/// Whether a queue is on another CPU now than `cpus`, by queue, have it.
bool has_to_move(const PlannedPort& port, const std::vector<unsigned>& cpus);

/// The last step of plan_interrupts(): sets `shares_with`, `reason` and `degraded` (placement_reason.cpp).
void explain(const InterruptPlanInput& input, const CpuList& eligible, InterruptPlan& plan);

} // namespace teamo
