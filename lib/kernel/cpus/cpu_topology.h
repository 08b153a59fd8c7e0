// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/cpus.h"

#include <string>

namespace teamo {

/// The machine's CPUs, from /sys/devices/system and the root cgroup. Of one that is offline the kernel tells
/// little more than its node: it is its own core and cache then. `root`: where /sys is.
Result<CpuTopology> read_cpu_topology(const std::string& root = "");

/// The CPUs that are online.
Result<CpuList> read_online_cpus(const std::string& root = "");

} // namespace teamo
