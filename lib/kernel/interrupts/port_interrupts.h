// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's interrupts by queue, and where each goes.
#pragma once

#include "base/result.h"
#include "kernel/netlink/netdev_queues.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// What the kernel tells of the port's vectors, grouped by queue: by what the netdev family told (`told`)
/// and by the handlers' names, which complement each other: of e1000e's two vectors of a queue the family
/// names one. Else they are one group (VectorSource::ungrouped; infer_queues may tell them apart).
/// A vector without a handler serves nobody and is left out: all of them while the port is down.
/// ENODEV: the device is gone, or /sys shows another network namespace. `root`: where /sys and /proc are.
Result<PortInterrupts> read_port_interrupts(const Link& link, const NetdevQueues& netdev_queues = {},
                                            const std::string& root = "");

/// Reads anew what changes by itself or by others' hands: affinities and counts of known vectors and threads.
/// ENOENT: one is gone; ESTALE: its number has another handler now. Then everything is to be read.
Result<> refresh(PortInterrupts& port, const std::string& root = "");

} // namespace teamo
