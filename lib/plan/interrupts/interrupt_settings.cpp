// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_settings.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

constexpr unsigned unknown_distance = std::numeric_limits<unsigned>::max();

/// 0 to 3 within a node, then NUMA distance, which is at least 10.
unsigned farness(const CpuTopology& topology, const Cpu& from, unsigned number) {
    const auto* to = topology.find(number);
    if (to == nullptr) return unknown_distance;
    if (to->number == from.number) return 0;
    if (to->core == from.core) return 1;
    if (to->cache == from.cache) return 2;
    if (to->node == from.node) return 3;
    return std::max(4U, topology.distance(static_cast<int>(from.node), to->node));
}

struct Sender {
    unsigned farness = 0; ///< of `queues`
    unsigned cpu = 0;
    std::vector<std::size_t> queues; ///< the nearest ones
};

Sender sender(const CpuTopology& topology, const Cpu& cpu, std::span<const unsigned> queue_cpus) {
    Sender sender{unknown_distance, cpu.number, {}};
    for (std::size_t queue = 0; queue < queue_cpus.size(); ++queue) {
        const auto far = farness(topology, cpu, queue_cpus[queue]);
        if (far < sender.farness) sender.queues.clear();
        if (far > sender.farness) continue;
        sender.farness = far;
        sender.queues.push_back(queue);
    }
    return sender;
}

} // namespace

bool is_switched_on(CpuSetting::Kind kind, const InterruptConfig& config) {
    if (kind == Kind::xps) return config.xps;
    return kind != Kind::rps || config.rps;
}

CpuSettings interrupt_settings(const PortInterrupts& port, const std::vector<unsigned>& cpus,
                               const CpuTopology& topology, const InterruptConfig& config) {
    CpuSettings settings;
    if (cpus.empty()) return settings;
    const auto set = [&](Kind kind, unsigned number, const CpuList& list) {
        settings.insert_or_assign({.kind = kind, .number = number}, list);
    };
    const auto place = [&](const std::vector<IrqVector>& vectors, unsigned cpu) {
        for (const auto& vector : vectors)
            if (vector.movable) set(Kind::irq, vector.irq, {cpu});
    };
    for (std::size_t index = 0; index < port.queues.size(); ++index) {
        const auto& queue = port.queues[index];
        const auto cpu = cpus[index % cpus.size()];
        place(queue.vectors, cpu);
        for (const auto& thread : {queue.thread, queue.second_thread})
            if (thread) set(Kind::thread, static_cast<unsigned>(thread->pid), {cpu});
    }
    place(port.others, cpus.front());
    const auto steer = [&](Kind kind, std::size_t queues, const auto& plan) {
        if (!is_switched_on(kind, config)) return;
        std::vector<unsigned> queue_cpus; // if fewer queues have vectors, the queues use their CPUs in turn
        for (std::size_t queue = 0; queue < queues; ++queue)
            queue_cpus.push_back(cpus[queue % cpus.size()]);
        const auto masks = plan(topology, queue_cpus);
        for (unsigned queue = 0; queue < masks.size(); ++queue)
            set(kind, queue, masks[queue]);
    };
    steer(Kind::xps, port.xps.size(), plan_xps);
    steer(Kind::rps, port.rps.size(), plan_rps);
    return settings;
}

std::vector<CpuList> plan_xps(const CpuTopology& topology, std::span<const unsigned> queue_cpus) {
    std::vector<CpuList> xps(queue_cpus.size());
    if (queue_cpus.empty()) return xps;
    std::vector<Sender> senders;
    for (const auto& cpu : topology.cpus)
        if (cpu.online) senders.push_back(sender(topology, cpu, queue_cpus));
    // CPUs with the fewest candidates first; the others can then fill the queues with few CPUs.
    std::ranges::stable_sort(senders, {},
                             [](const Sender& one) { return std::pair(one.queues.size(), one.farness); });
    for (const auto& one : senders)
        xps[*std::ranges::min_element(one.queues, {}, [&xps](std::size_t queue) {
            return xps[queue].size();
        })].push_back(one.cpu);
    for (auto& cpus : xps)
        std::ranges::sort(cpus);
    return xps;
}

std::vector<CpuList> plan_rps(const CpuTopology& topology, std::span<const unsigned> queue_cpus) {
    std::vector<CpuList> rps(queue_cpus.size());
    for (std::size_t queue = 0; queue < queue_cpus.size(); ++queue)
        if (const auto* interrupted = topology.find(queue_cpus[queue]))
            for (const auto& cpu : topology.cpus)
                if (cpu.online && !cpu.isolated && cpu.cache == interrupted->cache)
                    rps[queue].push_back(cpu.number);
    return rps;
}

CpuSettings missing(const CpuSettings& now, const CpuSettings& wanted) {
    CpuSettings missing;
    for (const auto& [setting, cpus] : wanted)
        if (const auto found = now.find(setting); found != now.end() && found->second != cpus)
            missing.emplace(setting, cpus);
    return missing;
}

AffinityState affinity_state(const IrqVector& vector, const CpuList& wanted) {
    if (vector.affinity != wanted) return AffinityState::misplaced;
    const bool there = vector.effective.empty() || std::ranges::includes(wanted, vector.effective);
    return there ? AffinityState::ok : AffinityState::pending;
}

DriftCause cause_of(const DriftFacts& facts) {
    // kernel/irq/cpuhotplug.c: if the last CPU of an interrupt goes offline, the interrupt may use any CPU.
    // drivers/net/virtio_net.c sets all its affinities again.
    if (facts.cpus_changed)
        return {.text = "by the kernel, because a CPU went offline or came online", .kernel = true};
    if (facts.came_up) return {.text = "by its driver, which made new vectors", .kernel = true};
    if (facts.as_hint) return {.text = "by its driver or another program, to its affinity_hint"};
    if (!facts.irqbalance.empty()) return {.text = "probably by " + facts.irqbalance};
    if (!facts.udev.empty()) return {.text = "probably by systemd-udevd (" + facts.udev + ")"};
    return {.text = "by another program"};
}

} // namespace teamo
