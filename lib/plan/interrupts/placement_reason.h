// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Explains to the user why a port's interrupts are on their CPUs.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

#include <map>
#include <set>

namespace teamo {

/// The ports and claims on each CPU.
struct Occupancy {
    std::map<unsigned, std::vector<std::string>> ports;  ///< of this team, by CPU
    std::map<unsigned, std::vector<std::string>> claims; ///< of other teams
};

/// Ports, then claims, other than `name` that use a CPU of `cpus`.
std::vector<std::string> sharers(const Occupancy& occupancy, const CpuList& cpus, const std::string& name);

/// "stays on CPU 3: on its NUMA node 0, a core of its own".
std::string placement_reason(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const PlannedPort& port, const PlacedPort& placed);

/// "8 ports, 4 CPUs: 2 ports share each CPU"; empty: no port shares a CPU.
std::string degraded_because(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const std::vector<PlacedPort>& placed);

} // namespace teamo
