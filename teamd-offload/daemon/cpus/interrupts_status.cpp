// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What others see of the interrupts: the state, and where packets arrive.
#include "daemon/cpus/interrupt_subsystem.h"

#include <algorithm>

namespace teamo {

std::vector<InterruptWriter> Interrupts::writers() const {
    using enum InterruptWriter::Program;
    std::vector<InterruptWriter> list;
    if (irqbalance_ && irqbalance_->status().present) {
        const auto& status = irqbalance_->status();
        const bool honoured = std::ranges::includes(status.honoured, status.asked);
        const auto how = !status.complaint.empty() ? "is running: " + status.complaint
                         : honoured                ? "leaves the ports' interrupts alone"
                                                   : "is asked to leave the ports' interrupts alone";
        list.push_back({.program = irqbalance,
                        .spares_ports = status.complaint.empty(),
                        .text = fmt::format("irqbalance (pid {}) {}", status.pid, how)});
    }
    for (const auto& port : ports_)
        if (!port.udev.empty())
            list.push_back({.program = udevd,
                            .text = fmt::format("systemd-udevd also sets the affinity of {}'s interrupts: {}",
                                                port.name, port.udev)});
    return list;
}

InterruptStatus Interrupts::status() const {
    InterruptStatus status{
        .policy = config().policy, .managed = managed_, .degraded = degraded_, .writers = writers()};
    for (const auto& port : ports_) {
        status.ports.push_back({.name = port.name,
                                .now = port.now,
                                .cpus = managed_ ? port.plan.cpus : std::vector<unsigned>{},
                                .reason = port.plan.reason,
                                .wanted = port.wanted,
                                .shares = port.plan.shares_with,
                                .threads_stay = port.threads_stay,
                                .repaired = port.repaired,
                                .contested = port.contested,
                                .drift = port.drift});
        auto& refused = status.ports.back().refused;
        for (const auto& [setting, refusal] : port.refused)
            if (setting.kind != CpuSetting::Kind::thread || !port.threads_stay)
                refused.push_back(refusal.text);
    }
    return status;
}

std::vector<Interrupts::Arrival> Interrupts::arrivals() const {
    std::vector<Arrival> list;
    for (const auto& port : ports_)
        list.push_back(
            {.index = port.index, .name = port.name, .cpus = arrival_cpus(port), .napi_ids = port.napi_ids});
    return list;
}

CpuList Interrupts::cpus_of(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, &Followed::index);
    if (found == ports_.end()) return {};
    if (found->read_at == Clock::time_point{}) read(*found);
    return interrupt_cpus(found->now);
}

bool Interrupts::polls_in_threads(IfIndex port) const {
    const auto found = std::ranges::find(ports_, port, &Followed::index);
    return found != ports_.end() &&
           (found->now.hidden_threads || std::ranges::any_of(found->now.queues, [](const auto& queue) {
                return queue.thread.has_value();
            }));
}

InterruptStatus Interrupts::dry_run() {
    read_cpus();
    for (auto& port : ports_)
        read(port);
    const auto made = plan().plan;
    if (!managed_) context_.shared.interrupt_plans.remove(context_.name());
    auto status = this->status();
    status.degraded = made.degraded;
    for (auto& port : status.ports) {
        const auto placed = std::ranges::find(made.ports, port.name, &PlacedPort::name);
        if (placed == made.ports.end()) continue;
        port.cpus = placed->cpus;
        port.reason = placed->reason;
        port.shares = placed->shares_with;
        port.moves = placed->moves;
    }
    return status;
}

} // namespace teamo
