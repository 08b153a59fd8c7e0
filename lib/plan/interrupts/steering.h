// SPDX-License-Identifier: LGPL-2.1-or-later
//
// XPS and RPS masks that fit the interrupts' CPUs (Documentation/networking/scaling.rst).
#pragma once

#include "model/cpus.h"

#include <span>
#include <vector>

namespace teamo {

/// xps_cpus by transmit queue. Each online CPU uses the queue whose interrupt CPU is nearest: the same CPU,
/// then the same core, cache, node, then by NUMA distance; of equal queues the one with the fewest CPUs.
/// Isolated CPUs are included: they send too, and the kernel spreads CPUs without a queue by hash.
/// `queue_cpus`: the interrupt CPU of each transmit queue.
std::vector<CpuList> plan_xps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

/// rps_cpus by receive queue: the online CPUs that share the cache of its interrupt CPU. Not isolated ones:
/// the kernel removes them and refuses a list of isolated CPUs only (net/core/net-sysfs.c).
/// `queue_cpus`: the interrupt CPU of each receive queue.
std::vector<CpuList> plan_rps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

} // namespace teamo
