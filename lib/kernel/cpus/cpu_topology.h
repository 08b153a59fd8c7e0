// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/machine.h"

#include <string>

namespace teamo {

/// The machine's CPUs, from /sys/devices/system and the root cgroup. For an offline CPU the kernel shows
/// little more than its node; it gets a core and a cache of its own. `root`: the directory that contains sys.
Result<CpuTopology> read_cpu_topology(const std::string& root = "");

/// The CPUs that are online.
Result<CpuList> read_online_cpus(const std::string& root = "");

} // namespace teamo
