// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The machine's CPUs, and those that a thread may use.
#pragma once

#include "base/result.h"
#include "model/cpus.h"

#include <sys/types.h>

#include <string>

namespace teamo {

/// The machine's CPUs, from /sys/devices/system and the root cgroup. For an offline CPU the kernel shows
/// little more than its node; it gets a core and a cache of its own. `root`: the directory that contains sys.
Result<CpuTopology> read_cpu_topology(const std::string& root = "");

/// The CPUs that are online.
Result<CpuList> read_online_cpus(const std::string& root = "");

/// The CPU affinity of a thread, also beyond the 1024 CPUs of cpu_set_t. ESRCH: the thread is gone.
Result<CpuList> read_thread_affinity(pid_t thread);
/// ESRCH: the thread is gone. EINVAL: its cpuset has none of the CPUs, or the kernel does not allow it to
/// move. EPERM: another user's thread (CAP_SYS_NICE).
Result<> write_thread_affinity(pid_t thread, const CpuList& cpus);

} // namespace teamo
