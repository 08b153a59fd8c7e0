// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A process and all its threads on certain CPUs, and back.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <chrono>

namespace teamo {

/// How long threads that are made meanwhile are gone after, where nobody waits.
inline constexpr std::chrono::milliseconds thorough{500};

/// Binds every thread, those too that are made meanwhile. `earlier`: what this process is bound by already,
/// whose notes of what was before go on to count. ESRCH: the process is gone. EINVAL: its cpuset has none of
/// the CPUs, or the kernel lets nobody move it. EPERM: another user's (CAP_SYS_NICE). EAGAIN: it makes
/// threads faster than they can be bound within `patience` (five passes over them are made in any case). On
/// failure what was set is undone, in as much time again.
Result<WorkerBinding> bind_process(ProcessId id, const CpuList& cpus, const WorkerBinding& earlier = {},
                                   std::chrono::milliseconds patience = thorough);

/// Puts back what was before, for threads that are still as they were bound, the move that is under way
/// included: who has another mask got it from somebody else. A process that is gone needs nothing. EAGAIN: it
/// makes threads faster than they can be released.
Result<> release_process(const WorkerBinding& binding, std::chrono::milliseconds patience = thorough);

} // namespace teamo
