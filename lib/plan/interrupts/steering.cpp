// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/steering.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace teamo {
namespace {

/// 0 to 3 within a node, then NUMA distance, which is at least 10.
unsigned farness(const CpuTopology& topology, const Cpu& from, unsigned number) {
    constexpr unsigned unknown = std::numeric_limits<unsigned>::max();
    const auto* to = topology.find(number);
    if (to == nullptr) return unknown;
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
    Sender sender{std::numeric_limits<unsigned>::max(), cpu.number, {}};
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

} // namespace teamo
