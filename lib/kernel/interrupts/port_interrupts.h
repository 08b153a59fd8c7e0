// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's interrupts by queue, and their affinity.
#pragma once

#include "base/result.h"
#include "kernel/files/device_files.h"
#include "kernel/netlink/netdev_queues.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <span>
#include <string>
#include <vector>

namespace teamo {

/// The port's vectors, grouped by queue. Uses both `netdev_queues` and the handlers' names: of e1000e's two
/// vectors of a queue, the netdev family reports only one. Without either, all vectors form one group
/// (VectorSource::ungrouped); infer_queues() may separate them later. Vectors without a handler are left out,
/// so a port that is down has none. ENODEV: the device is gone, or /sys shows another network namespace.
/// `root`: the directory that contains sys and proc.
Result<PortInterrupts> read_port_interrupts(const Link& link, const NetdevQueues& netdev_queues = {},
                                            const std::string& root = "");

/// A device's vectors that have a handler, by number: those in msi_irqs, or with its name if it lists none
/// there, and those in `known`.
std::vector<IrqVector> list_vectors(const DeviceFolder& folder, const std::string& name,
                                    std::span<const unsigned> known, const std::string& root);

/// Reads the affinities and counts of known vectors and threads again. ENOENT: one no longer exists; ESTALE:
/// its number has another handler now. After either, call read_port_interrupts().
Result<> refresh(PortInterrupts& port, const std::string& root = "");

/// The CPUs that handle the interrupts of the port's queues now. Empty for virtual devices, and for cards
/// that are down and have freed their interrupts. Vectors for configuration and link state count only if
/// there are no others; vectors that never fired count only if none has fired. Pure.
CpuList interrupt_cpus(const PortInterrupts& port);

} // namespace teamo
