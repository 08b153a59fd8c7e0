// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs serve which port's interrupts: a minimum-cost assignment. docs/adr/0014.
#pragma once

#include "model/cpus.h"
#include "model/interrupts.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A port whose interrupts are to be placed.
struct PlannedPort {
    std::string name;          ///< no two have the same
    int node = -1;             ///< NUMA node of its device; -1: no matter
    unsigned queues = 1;       ///< with vectors of their own: so many CPUs it can use; at least 1
    std::vector<unsigned> now; ///< the CPU of each queue at present, by queue; empty: nowhere yet
    std::vector<std::optional<unsigned>>
        fixed{};                 ///< by queue: where the kernel keeps it; empty: all can be moved
    std::vector<double> loads{}; ///< by queue: share of the port's packets; empty: even
    double load = 1;             ///< of the port beside the others: packets, or its speed
    bool standby = false;        ///< carries nothing while others do
};

/// A port as it is, with all of its queues. Without vectors it has none, and is not for the plan.
PlannedPort planned_port(std::string name, const PortInterrupts& port);

struct InterruptPlanInput {
    const CpuTopology* topology = nullptr;
    std::vector<PlannedPort> ports; ///< their order does not count
    CpuList allowed{};              ///< by configuration; empty: all that are not isolated
    std::vector<CpuClaim> claims{};
};

struct PlacedPort {
    std::string name;
    std::vector<unsigned> cpus;             ///< by queue; empty: no CPU there is
    std::vector<std::string> shares_with{}; ///< ports and claims on a CPU of its own
    std::string reason;                     ///< one line, for people
    bool moves = false;                     ///< some queue is elsewhere now
};

struct InterruptPlan {
    std::vector<PlacedPort> ports; ///< in the premises' order
    std::string degraded;          ///< why not every port has a CPU of its own; empty: each has
};

InterruptPlan plan_interrupts(const InterruptPlanInput& input);

} // namespace teamo
