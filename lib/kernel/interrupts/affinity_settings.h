// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads, writes and restores the CPU settings of a port's interrupts, threads and queues.
#pragma once

#include "base/result.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// The port's present settings. Vectors that cannot be moved are left out. Pure.
CpuSettings read_cpu_settings(const PortInterrupts& port);

/// Writes once, without a comparison with the present value. `device` is the port's name, for its queues. The
/// error has the kernel's errno: EIO, EPERM: managed interrupt; ENOSPC: the CPU has no free vector; EBUSY:
/// the interrupt is moving; EINVAL, ERANGE, EOVERFLOW: no such CPUs; ENOENT, ESRCH: it no longer exists.
/// `root`: the directory that contains sys and proc.
Result<> write_cpu_setting(const std::string& device, const CpuSetting& setting, const CpuList& cpus,
                           const std::string& root = "");

/// "interrupt 24", "thread 612", "transmit queue 3", "receive queue 3".
std::string text_of(const CpuSetting& setting);

/// Explains the errno of a failed write to the administrator. Pure.
std::string meaning_of(int number, const std::string& device, const CpuSetting& setting, const CpuList& cpus);

/// The present value. None if the interrupt or thread is gone, or if its number now belongs to another device
/// or to a thread that is not a NAPI thread. A card that is down keeps its interrupts (/sys/…/msi_irqs).
std::optional<CpuList> read_cpu_setting(const Link& link, const CpuSetting& setting,
                                        const std::string& root = "");

/// The value to restore later, of a setting with the present value `now`. For a thread that may run on every
/// online CPU these are all possible CPUs, since the kernel does not show offline ones (sched_getaffinity).
CpuList former_cpus(const CpuSetting& setting, const CpuList& now, const std::string& root = "");

/// Restores the settings that we changed, if they still have a value of ours. Continues after a failure; the
/// error lists all failures, and is_passing() if one of them is. ENOSPC is not: it lasts.
Result<> restore_cpus(const Link& link, const SetCpus& set, const std::string& root = "");

/// True if the driver recommends CPUs (a non-empty affinity_hint) and the affinity is exactly those.
bool is_as_hinted(unsigned irq, const std::string& root = "");

} // namespace teamo
