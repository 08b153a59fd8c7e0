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

/// The CPUs that handle the interrupts of the port's queues now. Empty for virtual devices, and for cards
/// that are down and have freed their interrupts. Vectors for configuration and link state count only if
/// there are no others; vectors that never fired count only if none has fired. Pure.
CpuList interrupt_cpus(const PortInterrupts& port);

/// ENODEV: the device is gone, or /sys shows another network namespace than this process's. `root`: the
/// directory that contains sys and proc.
Result<CpuList> read_interrupt_cpus(const Link& link, const std::string& root = "");

} // namespace teamo
