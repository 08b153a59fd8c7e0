// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which of a port's CPUs serves which of its queues.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

namespace teamo {

/// By queue. Fixed queues are where they are. The others stay if their CPU is one of `cpus`, unless dealing
/// all out anew, the largest load first, takes more than a fifth off the busiest CPU.
/// `cpus`: where queues that can be moved may go; empty: nowhere, and so is the answer where one can be
/// moved.
std::vector<unsigned> queue_cpus(const PlannedPort& port, const CpuList& cpus);

/// The CPU that the kernel keeps the queue on.
inline std::optional<unsigned> fixed_cpu(const PlannedPort& port, std::size_t queue) {
    return queue < port.fixed.size() ? port.fixed[queue] : std::nullopt;
}

} // namespace teamo
