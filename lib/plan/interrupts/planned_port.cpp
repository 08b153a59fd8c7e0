// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Converts the present state of a port's interrupts to the plan's input.
#include "plan/interrupts/interrupt_plan.h"

#include <algorithm>

namespace teamo {
namespace {

/// The present CPU of each queue; empty if a queue has several.
std::vector<unsigned> cpus_now(const PortInterrupts& port) {
    std::vector<unsigned> cpus;
    for (const auto& queue : port.queues) {
        const auto& vector = queue.vectors.front();
        const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
        if (where.size() != 1) return {};
        cpus.push_back(where.front());
    }
    return cpus;
}

std::vector<std::optional<unsigned>> fixed_of(const PortInterrupts& port) {
    std::vector<std::optional<unsigned>> fixed;
    for (const auto& queue : port.queues) {
        const auto held = std::ranges::find(queue.vectors, false, &IrqVector::movable);
        const bool known = held != queue.vectors.end() && held->effective.size() == 1;
        fixed.push_back(known ? std::optional(held->effective.front()) : std::nullopt);
    }
    return fixed;
}

} // namespace

PlannedPort planned_port(std::string name, const PortInterrupts& port) {
    return {.name = std::move(name),
            .node = port.node,
            .queues = static_cast<unsigned>(port.queues.size()),
            .now = cpus_now(port),
            .fixed = fixed_of(port)};
}

} // namespace teamo
