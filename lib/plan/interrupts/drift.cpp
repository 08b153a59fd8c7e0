// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/drift.h"

namespace teamo {

DriftCause cause_of(const DriftFacts& facts) {
    // kernel/irq/cpuhotplug.c: an interrupt whose last CPU goes offline may go anywhere from then on;
    // drivers/net/virtio_net.c rewrites all of its own.
    if (facts.cpus_changed) return {.text = "by the kernel, as a CPU went or came", .kernel = true};
    if (facts.came_up) return {.text = "as its vectors were made anew", .kernel = true};
    if (facts.as_hint) return {.text = "by its driver, as its affinity_hint says", .kernel = true};
    if (!facts.irqbalance.empty()) return {.text = "by " + facts.irqbalance + " probably"};
    if (!facts.udev.empty()) return {.text = "by systemd-udevd probably (" + facts.udev + ")"};
    return {.text = "by somebody else"};
}

} // namespace teamo
