// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs serve a device's interrupts, from sysfs and /proc/irq.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"
#include "kernel/cpus/cpu_topology.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// The CPUs to which the kernel sends the interrupts of the port's queues now, pure. None where there are no
/// interrupts to speak of: virtual devices, and cards that are down, which have handed theirs back. A vector
/// that only tells of configuration or of the link does not count beside others, nor does one that has never
/// come beside some that have.
CpuList interrupt_cpus(const PortInterrupts& port);

/// Of the device. ENODEV: the device is gone, or /sys shows another network namespace than this process's.
/// `root`: where /sys and /proc are.
Result<CpuList> read_interrupt_cpus(const Link& link, const std::string& root = "");

} // namespace teamo
