// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Why a port's interrupts are where they are, for people.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

#include <map>
#include <set>

namespace teamo {

/// Who has which CPU.
struct Occupancy {
    std::map<unsigned, std::vector<std::string>> ports;  ///< of this team, by CPU
    std::map<unsigned, std::vector<std::string>> claims; ///< of others
};

/// Ports, then claims, that have a CPU of `cpus` besides `name`.
std::vector<std::string> sharers(const Occupancy& occupancy, const CpuList& cpus, const std::string& name);

/// "stays on CPU 3: on its node 0, a core of its own".
std::string placement_reason(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const PlannedPort& port, const PlacedPort& placed);

/// "8 ports, 4 CPUs: 2 ports share each CPU"; empty: no port shares one.
std::string degraded_because(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const std::vector<PlacedPort>& placed);

} // namespace teamo
