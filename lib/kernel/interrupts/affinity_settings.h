// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What of a port's interrupts, threads and queues can be given to CPUs, and giving it.
#pragma once

#include "base/result.h"
#include "model/interrupts.h"

#include <string>

namespace teamo {

/// As the port has them now, pure. Vectors that nobody may move are not among them.
CpuSettings read_cpu_settings(const PortInterrupts& port);

/// Does as it is told, once: who calls compares. `device` is the port's name, for its queues. The error keeps
/// the kernel's errno: EIO, EPERM: the kernel keeps this interrupt where it wants it; ENOSPC: a CPU has no
/// vector left; EBUSY: is moving; EINVAL, ERANGE, EOVERFLOW: no such CPUs; ENOENT, ESRCH: it is gone.
/// `root`: where /sys and /proc are.
Result<> write_cpu_setting(const std::string& device, const CpuSetting& setting, const CpuList& cpus,
                           const std::string& root = "");

/// "interrupt 24", "thread 612", "transmit queue 3", "receive queue 3".
std::string text_of(const CpuSetting& setting);

/// What a refusal means for a person, by its errno; pure.
std::string meaning_of(int number, const std::string& device, const CpuSetting& setting, const CpuList& cpus);

} // namespace teamo
