// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/drift.h"

namespace teamo {

DriftCause cause_of(const DriftFacts& facts) {
    // kernel/irq/cpuhotplug.c: if the last CPU of an interrupt goes offline, the interrupt may use any CPU.
    // drivers/net/virtio_net.c sets all its affinities again.
    if (facts.cpus_changed)
        return {.text = "by the kernel, because a CPU went offline or came online", .kernel = true};
    if (facts.came_up) return {.text = "by its driver, which made new vectors", .kernel = true};
    if (facts.as_hint) return {.text = "by its driver, to its affinity_hint", .kernel = true};
    if (!facts.irqbalance.empty()) return {.text = "probably by " + facts.irqbalance};
    if (!facts.udev.empty()) return {.text = "probably by systemd-udevd (" + facts.udev + ")"};
    return {.text = "by another program"};
}

} // namespace teamo
