// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assigns a port's queues to its CPUs.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

namespace teamo {

/// By queue. Fixed queues keep their CPU. The others keep theirs if it is in `cpus`, unless a new assignment,
/// largest load first, takes more than a fifth off the busiest CPU.
/// `cpus`: for movable queues. If it is empty and a queue is movable, the result is empty.
std::vector<unsigned> queue_cpus(const PlannedPort& port, const CpuList& cpus);

/// The CPU on which the kernel keeps the queue; none if it is movable.
inline std::optional<unsigned> fixed_cpu(const PlannedPort& port, std::size_t queue) {
    return queue < port.fixed.size() ? port.fixed[queue] : std::nullopt;
}

} // namespace teamo
