// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/interrupt_cpus.h"

#include "kernel/interrupts/port_interrupts.h"

#include <algorithm>

namespace teamo {

CpuList interrupt_cpus(const PortInterrupts& port) {
    std::vector<const IrqVector*> serving;
    for (const auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            serving.push_back(&vector);
    if (serving.empty())
        for (const auto& vector : port.others)
            serving.push_back(&vector);
    // A virtio device has vectors for unused queues, and the effective affinity of an idle vector stays old
    // after its affinity has changed.
    const auto has_fired = [](const IrqVector* vector) { return vector->count > 0; };
    const bool any = std::ranges::any_of(serving, has_fired);
    CpuList cpus;
    for (const auto* vector : serving)
        if (!any || has_fired(vector))
            cpus = united(std::move(cpus), vector->effective.empty() ? vector->affinity : vector->effective);
    return cpus;
}

Result<CpuList> read_interrupt_cpus(const Link& link, const std::string& root) {
    const auto port = read_port_interrupts(link, {}, root);
    if (!port) return tl::unexpected(port.error());
    return interrupt_cpus(*port);
}

} // namespace teamo
