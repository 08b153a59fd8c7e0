// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads and writes the CPU settings of a port's interrupts, threads and queues.
#pragma once

#include "base/result.h"
#include "model/interrupts.h"

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

} // namespace teamo
