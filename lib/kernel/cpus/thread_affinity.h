// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU affinity of a thread, also beyond the 1024 CPUs of cpu_set_t.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"

#include <sys/types.h>

namespace teamo {

/// ESRCH: the thread is gone.
Result<CpuList> read_thread_affinity(pid_t thread);
/// ESRCH: the thread is gone. EINVAL: its cpuset has none of the CPUs, or the kernel does not allow it to
/// move. EPERM: another user's thread (CAP_SYS_NICE).
Result<> write_thread_affinity(pid_t thread, const CpuList& cpus);

} // namespace teamo
