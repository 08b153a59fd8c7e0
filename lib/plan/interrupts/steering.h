// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What follows from the interrupts' CPUs for the rest of a packet's way
// (Documentation/networking/scaling.rst).
#pragma once

#include "model/cpus.h"

#include <span>
#include <vector>

namespace teamo {

/// xps_cpus by transmit queue: each online CPU sends by the queue whose interrupt CPU is nearest: the same,
/// else of its core, its cache, its node, then by NUMA distance; of equals the one that fewest send by.
/// Isolated CPUs too: they send as others do, and what no queue names the kernel spreads by hash.
/// `queue_cpus`: the interrupt CPU of each transmit queue.
std::vector<CpuList> plan_xps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

/// rps_cpus by receive queue: the CPUs behind the cache of its interrupt CPU that are online and not
/// isolated, since the kernel strikes isolated ones off and refuses a list of only such
/// (net/core/net-sysfs.c). `queue_cpus`: the interrupt CPU of each receive queue.
std::vector<CpuList> plan_rps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

} // namespace teamo
