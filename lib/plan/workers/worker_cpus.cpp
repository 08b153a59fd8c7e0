// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_cpus.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace teamo {
namespace {

// A CPU takes workers up to this load; a worker that is already there stays up to `full_to_stay`.
constexpr double full = 0.7, full_to_stay = 0.9;
constexpr unsigned not_near = 8; // this rank and above

} // namespace

WorkerCpus::WorkerCpus(const WorkerPlanInput& input) : input_(input), usable_(input.topology->eligible({})) {}

CpuList WorkerCpus::usable(const CpuList& allowed) const {
    auto cpus = usable_;
    if (!allowed.empty()) std::erase_if(cpus, [&](unsigned cpu) { return !contains(allowed, cpu); });
    return cpus;
}

double WorkerCpus::interrupts(unsigned cpu) const {
    const auto found = input_.interrupts.find(cpu);
    return found == input_.interrupts.end() ? 0 : found->second;
}

std::string_view WorkerCpus::port_of(unsigned cpu) const {
    std::string_view name;
    for (const auto& port : input_.ports)
        if (contains(port.cpus, cpu)) {
            if (!name.empty()) return {};
            name = port.name;
        }
    return name;
}

WorkerCpus::Use WorkerCpus::used(unsigned cpu) const {
    const auto found = used_.find(cpu);
    return found == used_.end() ? Use{} : found->second;
}

void WorkerCpus::count(const CpuList& cpus, int workers, double work) {
    for (const auto cpu : cpus) {
        used_[cpu].workers += workers;
        used_[cpu].work += work / static_cast<double>(cpus.size());
    }
}

std::string_view WorkerCpus::relation(unsigned cpu, unsigned anchor) const {
    const auto *one = input_.topology->find(cpu), *other = input_.topology->find(anchor);
    if (one == nullptr || other == nullptr) return "a CPU elsewhere";
    if (one == other) return "itself";
    if (one->core == other->core) return "its sibling";
    if (one->cache == other->cache) return "a CPU with the same cache";
    return one->node == other->node ? "a CPU of the same node" : "a CPU elsewhere";
}

/// Lower is better; from not_near on the CPU is not near.
unsigned WorkerCpus::rank(const Cpu& cpu, const Cpu& anchor, Nearness nearness, bool others) const {
    constexpr unsigned fallback = 5;
    const bool itself = cpu.number == anchor.number, sibling = cpu.core == anchor.core,
               cache = cpu.cache == anchor.cache, node = cpu.node == anchor.node;
    if (itself) return nearness == Nearness::same ? 0 : fallback;
    if (others) return cache ? fallback + 1 : node ? fallback + 2 : not_near + 1;
    // A sibling of an overloaded CPU has little capacity left.
    if (sibling) return nearness == Nearness::apart ? fallback - 1 : 1;
    return cache ? 2 : node ? 3 : not_near;
}

unsigned WorkerCpus::best_rank(const Cpu& cpu, const Request& request) const {
    unsigned best = std::numeric_limits<unsigned>::max();
    for (const auto number : request.anchors)
        if (const auto* anchor = input_.topology->find(number))
            best = std::min(
                best, rank(cpu, *anchor, request.nearness, serves_other_ports(cpu.number, request.anchors)));
    return best;
}

bool WorkerCpus::serves_other_ports(unsigned cpu, const CpuList& anchors) const {
    return !contains(anchors, cpu) && std::ranges::any_of(input_.ports, [cpu](const WorkerPort& port) {
        return contains(port.cpus, cpu);
    });
}

bool WorkerCpus::is_full(unsigned cpu, const Request& request) const {
    const auto use = used(cpu);
    return use.workers > 0 && use.work + interrupts(cpu) + request.work / request.count >
                                  (contains(request.now, cpu) ? full_to_stay : full);
}

CpuList WorkerCpus::near(const Request& request) const {
    using Key = std::tuple<bool, unsigned, bool, int, unsigned>; // the last one is the CPU
    std::vector<Key> keys;
    for (const auto number : request.usable) {
        const auto& cpu = *input_.topology->find(number);
        const auto rank = best_rank(cpu, request);
        if (rank >= not_near) continue;
        keys.emplace_back(is_full(number, request), rank, !contains(request.now, number), workers_on(number),
                          number);
    }
    if (keys.size() < request.count) return {};
    std::ranges::sort(keys);
    CpuList cpus;
    for (unsigned taken = 0; taken < request.count; ++taken)
        cpus.push_back(std::get<4>(keys[taken]));
    std::ranges::sort(cpus);
    return cpus;
}

unsigned WorkerCpus::own(const Request& request) const {
    const auto key = [&](unsigned number) {
        const auto& cpu = *input_.topology->find(number);
        const bool core_has_some = std::ranges::any_of(used_, [&](const auto& entry) {
            const auto* other = input_.topology->find(entry.first);
            return entry.second.workers > 0 && other != nullptr && other->core == cpu.core;
        });
        return std::tuple(workers_on(number), serves_other_ports(number, request.anchors),
                          !contains(request.now, number), core_has_some, best_rank(cpu, request), number);
    };
    return *std::ranges::min_element(request.usable, {}, key);
}

} // namespace teamo
