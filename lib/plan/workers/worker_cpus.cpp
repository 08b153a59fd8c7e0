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

bool has(const CpuList& cpus, unsigned cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); }

} // namespace

WorkerCpus::WorkerCpus(const WorkerPlanInput& input) : input_(input) {
    for (const auto& cpu : input.topology->cpus)
        if (cpu.online && (input.allowed.empty() ? !cpu.isolated : has(input.allowed, cpu.number)))
            usable_.insert(cpu.number);
}

bool WorkerCpus::is_usable(unsigned cpu) const { return usable_.contains(cpu); }

bool WorkerCpus::are_usable(const CpuList& cpus) const {
    return std::ranges::all_of(cpus, [this](unsigned cpu) { return is_usable(cpu); });
}

double WorkerCpus::interrupts(unsigned cpu) const {
    const auto found = input_.interrupts.find(cpu);
    return found == input_.interrupts.end() ? 0 : found->second;
}

std::string_view WorkerCpus::port_of(unsigned cpu) const {
    std::string_view name;
    for (const auto& port : input_.ports)
        if (has(port.cpus, cpu)) {
            if (!name.empty()) return {};
            name = port.name;
        }
    return name;
}

unsigned WorkerCpus::workers_on(unsigned cpu) const {
    const auto found = given_.find(cpu);
    return found == given_.end() ? 0 : found->second.workers;
}

void WorkerCpus::give(const CpuList& cpus, double work) {
    for (const auto cpu : cpus) {
        ++given_[cpu].workers;
        given_[cpu].work += work / static_cast<double>(cpus.size());
    }
}

void WorkerCpus::take(const CpuList& cpus, double work) {
    for (const auto cpu : cpus) {
        --given_[cpu].workers;
        given_[cpu].work -= work / static_cast<double>(cpus.size());
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
    return !has(anchors, cpu) &&
           std::ranges::any_of(input_.ports, [cpu](const WorkerPort& port) { return has(port.cpus, cpu); });
}

bool WorkerCpus::is_full(unsigned cpu, const Request& request) const {
    const auto found = given_.find(cpu);
    if (found == given_.end() || found->second.workers == 0) return false;
    return found->second.work + interrupts(cpu) + request.work / request.count >
           (has(request.now, cpu) ? full_to_stay : full);
}

CpuList WorkerCpus::near(const Request& request) const {
    using Key = std::tuple<bool, unsigned, bool, unsigned, unsigned>; // the last one is the CPU
    std::vector<Key> keys;
    for (const auto number : usable_) {
        const auto& cpu = *input_.topology->find(number);
        const auto rank = best_rank(cpu, request);
        if (rank >= not_near) continue;
        keys.emplace_back(is_full(number, request), rank, !has(request.now, number), workers_on(number),
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
        const bool core_has_some = std::ranges::any_of(given_, [&](const auto& given) {
            const auto* other = input_.topology->find(given.first);
            return given.second.workers > 0 && other != nullptr && other->core == cpu.core;
        });
        return std::tuple(workers_on(number), serves_other_ports(number, request.anchors),
                          !has(request.now, number), core_has_some, best_rank(cpu, request), number);
    };
    return *std::ranges::min_element(usable_, {}, key);
}

} // namespace teamo
