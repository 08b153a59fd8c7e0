// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A process and all its threads on certain CPUs, and back.
#pragma once

#include "base/result.h"
#include "model/workers.h"

namespace teamo {

/// Binds every thread, those too that are made meanwhile. `earlier`: what this process is bound by already,
/// whose notes of what was before go on to count. ESRCH: the process is gone. EINVAL: its cpuset has none of
/// the CPUs, or the kernel lets nobody move it. EPERM: another user's (CAP_SYS_NICE). EAGAIN: it makes
/// threads faster than they can be bound. On failure what was set is undone.
Result<WorkerBinding> bind_process(ProcessId id, const CpuList& cpus, const WorkerBinding& earlier = {});

/// Puts back what was before, for threads that are still as they were bound, the move that is under way
/// included: who has another mask got it from somebody else. A process that is gone needs nothing.
Result<> release_process(const WorkerBinding& binding);

} // namespace teamo
