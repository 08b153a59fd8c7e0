// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_settings.h"

#include "plan/interrupts/steering.h"

#include <algorithm>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

void place(CpuSettings& settings, const IrqVector& vector, unsigned cpu) {
    if (vector.movable) settings.insert_or_assign({.kind = Kind::irq, .number = vector.irq}, CpuList{cpu});
}

CpuSetting of(const NapiThread& thread) {
    return {.kind = Kind::thread, .number = static_cast<unsigned>(thread.pid)};
}

/// By queue. If fewer queues have vectors, the queues use their CPUs in turn.
std::vector<unsigned> cpus_by_queue(std::size_t queues, const std::vector<unsigned>& cpus) {
    std::vector<unsigned> list;
    for (std::size_t queue = 0; queue < queues; ++queue)
        list.push_back(cpus[queue % cpus.size()]);
    return list;
}

void add(CpuSettings& settings, Kind kind, const std::vector<CpuList>& masks) {
    for (unsigned queue = 0; queue < masks.size(); ++queue)
        settings.insert_or_assign({.kind = kind, .number = queue}, masks[queue]);
}

} // namespace

CpuSettings interrupt_settings(const PortInterrupts& port, const std::vector<unsigned>& cpus,
                               const CpuTopology& topology, const InterruptConfig& config) {
    CpuSettings settings;
    if (cpus.empty()) return settings;
    for (std::size_t index = 0; index < port.queues.size(); ++index) {
        const auto cpu = cpus[index % cpus.size()];
        for (const auto& vector : port.queues[index].vectors)
            place(settings, vector, cpu);
        for (const auto& thread : {port.queues[index].thread, port.queues[index].second_thread})
            if (thread) settings.insert_or_assign(of(*thread), CpuList{cpu});
    }
    for (const auto& vector : port.others)
        place(settings, vector, cpus.front());
    if (config.xps && !port.xps.empty())
        add(settings, Kind::xps, plan_xps(topology, cpus_by_queue(port.xps.size(), cpus)));
    if (config.rps) add(settings, Kind::rps, plan_rps(topology, cpus_by_queue(port.rps.size(), cpus)));
    return settings;
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

} // namespace teamo
