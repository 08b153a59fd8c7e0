// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a thread may run. Of more CPUs than a cpu_set_t has room for, too.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"

#include <sys/types.h>

namespace teamo {

/// ESRCH: it is gone.
Result<CpuList> read_thread_affinity(pid_t thread);
/// ESRCH: it is gone. EINVAL: its cpuset has none of the CPUs, or the kernel lets nobody move it. EPERM:
/// another user's (CAP_SYS_NICE).
Result<> write_thread_affinity(pid_t thread, const CpuList& cpus);

} // namespace teamo
