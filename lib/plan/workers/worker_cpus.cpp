// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_cpus.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace teamo {
namespace {

// So much of a CPU is given away at the most; who is there already may have more before it has to leave.
constexpr double full = 0.7, full_to_stay = 0.9;
constexpr unsigned not_near = 8; // this rank and above

bool has(const CpuList& cpus, unsigned cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); }

} // namespace

WorkerCpus::WorkerCpus(const WorkerPlanInput& input) : premises_(input) {
    for (const auto& cpu : input.topology->cpus)
        if (cpu.online && (input.allowed.empty() ? !cpu.isolated : has(input.allowed, cpu.number)))
            usable_.insert(cpu.number);
}

bool WorkerCpus::is_usable(unsigned cpu) const { return usable_.contains(cpu); }

bool WorkerCpus::are_usable(const CpuList& cpus) const {
    return std::ranges::all_of(cpus, [this](unsigned cpu) { return is_usable(cpu); });
}

double WorkerCpus::interrupts(unsigned cpu) const {
    const auto found = premises_.interrupts.find(cpu);
    return found == premises_.interrupts.end() ? 0 : found->second;
}

std::string_view WorkerCpus::port_of(unsigned cpu) const {
    std::string_view name;
    for (const auto& port : premises_.ports)
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
    const auto *one = premises_.topology->find(cpu), *other = premises_.topology->find(anchor);
    if (one == nullptr || other == nullptr) return "a CPU elsewhere";
    if (one == other) return "itself";
    if (one->core == other->core) return "its sibling";
    if (one->cache == other->cache) return "a CPU with the same cache";
    return one->node == other->node ? "a CPU of the same node" : "a CPU elsewhere";
}

/// The lower the better; from not_near on it is not near.
unsigned WorkerCpus::rank(const Cpu& cpu, const Cpu& anchor, Nearness nearness, bool others) const {
    constexpr unsigned for_want_of_better = 5;
    const bool itself = cpu.number == anchor.number, sibling = cpu.core == anchor.core,
               cache = cpu.cache == anchor.cache, node = cpu.node == anchor.node;
    if (itself) return nearness == Nearness::same ? 0 : for_want_of_better;
    if (others) return cache ? for_want_of_better + 1 : node ? for_want_of_better + 2 : not_near + 1;
    // Siblings share what an overloaded core has not got.
    if (sibling) return nearness == Nearness::apart ? for_want_of_better - 1 : 1;
    return cache ? 2 : node ? 3 : not_near;
}

unsigned WorkerCpus::best_rank(const Cpu& cpu, const Seeker& seeker) const {
    unsigned best = std::numeric_limits<unsigned>::max();
    for (const auto number : seeker.anchors)
        if (const auto* anchor = premises_.topology->find(number))
            best = std::min(best, rank(cpu, *anchor, seeker.nearness, is_others(cpu.number, seeker.anchors)));
    return best;
}

bool WorkerCpus::is_others(unsigned cpu, const CpuList& anchors) const {
    return !has(anchors, cpu) && std::ranges::any_of(premises_.ports, [cpu](const WorkerPort& port) {
        return has(port.cpus, cpu);
    });
}

bool WorkerCpus::is_full(unsigned cpu, const Seeker& seeker) const {
    const auto found = given_.find(cpu);
    if (found == given_.end() || found->second.workers == 0) return false;
    return found->second.work + interrupts(cpu) + seeker.work / seeker.count >
           (has(seeker.now, cpu) ? full_to_stay : full);
}

CpuList WorkerCpus::near(const Seeker& seeker) const {
    using Key = std::tuple<bool, unsigned, bool, unsigned, unsigned>; // the last one is the CPU
    std::vector<Key> keys;
    for (const auto number : usable_) {
        const auto& cpu = *premises_.topology->find(number);
        const auto rank = best_rank(cpu, seeker);
        if (rank >= not_near) continue;
        keys.emplace_back(is_full(number, seeker), rank, !has(seeker.now, number), workers_on(number),
                          number);
    }
    if (keys.size() < seeker.count) return {};
    std::ranges::sort(keys);
    CpuList cpus;
    for (unsigned taken = 0; taken < seeker.count; ++taken)
        cpus.push_back(std::get<4>(keys[taken]));
    std::ranges::sort(cpus);
    return cpus;
}

unsigned WorkerCpus::own(const Seeker& seeker) const {
    const auto key = [&](unsigned number) {
        const auto& cpu = *premises_.topology->find(number);
        const bool core_has_some = std::ranges::any_of(given_, [&](const auto& given) {
            const auto* other = premises_.topology->find(given.first);
            return given.second.workers > 0 && other != nullptr && other->core == cpu.core;
        });
        return std::tuple(workers_on(number), is_others(number, seeker.anchors), !has(seeker.now, number),
                          core_has_some, best_rank(cpu, seeker), number);
    };
    return *std::ranges::min_element(usable_, {}, key);
}

} // namespace teamo
