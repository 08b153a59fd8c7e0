// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Binds a process with all its threads to CPUs, and releases it; what conflicts with this.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>

namespace teamo {

/// The time limit for binding threads that the process creates meanwhile, if the caller can wait.
inline constexpr std::chrono::milliseconds default_patience{500};

/// Whether it has certainly ended, also if it is hidden in /proc (systemd's ProtectProc=, hidepid=).
bool is_gone(ProcessId id);

/// What a binding that is to be made will have to undo: the affinity of each thread now. `others`: our other
/// bindings. What a process inherited from a parent that is one of them is not its own: it gets back what the
/// parent gets back. ESRCH: the process is gone. EACCES: it is hidden in /proc.
Result<WorkerBinding> plan_binding(ProcessId id, const CpuList& cpus,
                                   std::span<const WorkerBinding> others = {});

/// Binds every thread, including those that are created meanwhile. `earlier`: our present binding of this
/// process, whose original affinities remain valid. A thread that has left it by itself stays where it is,
/// unless the first thread has left too: then another program moved the process. `others`: as above. ESRCH:
/// the process is gone. EACCES: it is hidden in /proc; nothing was changed. EINVAL: its cpuset has none of
/// the CPUs, or the kernel does not allow it to move. EPERM: another user's process (CAP_SYS_NICE). EAGAIN:
/// it creates threads faster than they can be bound within `patience` (but at least five passes). A failure
/// undoes the changes, which can take `patience` again.
Result<WorkerBinding> bind_process(ProcessId id, const CpuList& cpus, const WorkerBinding& earlier = {},
                                   std::chrono::milliseconds patience = default_patience,
                                   std::span<const WorkerBinding> others = {});

/// Restores the original affinity of all threads that still have ours, also that of an unfinished move.
/// Threads with another affinity were changed by another program and are left alone, unless the CPUs of the
/// binding are offline. A thread that only its cpuset restricted gets all CPUs, also those of a cpuset that
/// was widened since. No failure if the process is gone. EACCES: it is hidden in /proc. EAGAIN: it creates
/// threads faster than they can be released.
Result<> release_process(const WorkerBinding& binding, std::chrono::milliseconds patience = default_patience);

/// The affinity of the process's first thread, if it is not ours any more. None if all CPUs of the binding
/// are offline: then the kernel has changed it.
std::optional<CpuList> drift_of(const WorkerBinding& binding);

/// Why workers cannot be bound: RFS is on, which moves packets to the process while we move the process to
/// the packets. Empty: RFS is off. `root`: the directory that contains proc and sys.
std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root = "");

} // namespace teamo
