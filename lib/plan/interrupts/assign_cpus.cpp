// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/assign_cpus.h"

#include "plan/interrupts/min_cost_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace teamo {
namespace {

/// For two ports on one CPU. `weight`: of the lighter port.
constexpr PlacementCost cost_of_sharing(std::int64_t weight) { return {weight, 0, 0}; }

/// `distance`: the kernel's NUMA distance, at most 255. `slowness`: 0 (the fastest CPUs) to 1024.
constexpr PlacementCost cost_of_place(std::int64_t distance, std::int64_t slowness) {
    return {0, (distance << 41) + slowness, 0};
}

/// For one more hardware thread of a core with `in_use` threads in use.
constexpr PlacementCost cost_of_siblings(std::int64_t in_use) { return {0, in_use << 24, 0}; }

/// `farness` from the port's other CPUs: 0 same cache, 1 same node, 2 another node. CPU 0 comes last: it has
/// the timer, what started at boot, and all interrupts without an affinity.
constexpr PlacementCost cost_of_habit(bool move, std::int64_t farness, unsigned cpu) {
    const std::int64_t number = cpu == 0 ? 8192 : cpu;
    return {0, 0, (std::int64_t{move} << 44) + (farness << 28) + number};
}

/// One place on a CPU.
struct Seat {
    std::size_t number = 0;
    unsigned cpu = 0;
};

/// The flow network: takers -> seats -> cores -> end. If there are too few CPUs, each CPU has several seats,
/// and seat j costs j times the taker's weight. So the heaviest taker gets seat 0, and each pair costs the
/// lighter weight. Seat 0 uses one thread of the core; each further thread of that core costs more.
class Network {
public:
    explicit Network(const Assignment& assignment) : assignment_(assignment) {
        for (const auto& taken : assignment_.taken)
            weights_[taken.cpu].push_back(taken.weight);
        find_cpus();
        find_cores();
        end_of_cpus_ = first_cpu_node() + static_cast<MinCostFlow::Node>(cpus_.size() * seats_);
        flow_ = MinCostFlow(end_of_cpus_ + assignment_.takers.size());
        offers_.reserve(assignment_.takers.size() * cpus_.size() * seats_);
        for (std::size_t index = 0; index < cpus_.size(); ++index)
            join_to_core(index);
        for (const auto& taker : assignment_.takers)
            join_to_cpus(taker);
    }

    /// By taker.
    std::vector<std::vector<Seat>> result() {
        for (std::size_t index = 0; index < assignment_.takers.size(); ++index)
            for (unsigned count = 0; count < assignment_.takers[index].count; ++count)
                if (!flow_.send(taker_node(index), end)) break;
        std::vector<std::vector<Seat>> given(assignment_.takers.size());
        for (const auto& [taker, seat, arc] : offers_)
            if (flow_.carries(arc)) given[taker].push_back(seat);
        return given;
    }

private:
    static constexpr MinCostFlow::Node end = 0; // the lowest number, so that equal costs prefer short paths

    struct Core {
        MinCostFlow::Node node = end;
        unsigned in_use = 0;
        unsigned threads = 0; ///< free
    };
    struct Offer {
        std::size_t taker = 0;
        Seat seat;
        MinCostFlow::Arc arc = 0;
    };

    void find_cpus() {
        std::size_t units = 0;
        for (const auto& taker : assignment_.takers)
            units += taker.count;
        std::vector<const Cpu*> free;
        for (const auto number : assignment_.eligible)
            if (const auto* cpu = assignment_.topology->find(number)) {
                cpus_.push_back(cpu);
                if (!weights_.contains(number)) free.push_back(cpu);
            }
        if (units <= free.size()) {
            cpus_ = free; // no port has to share
        } else if (!cpus_.empty()) {
            // No CPU needs more than one seat above the mean: another CPU with fewer ports would cost less.
            seats_ = std::min(units, 1 + (units + assignment_.taken.size()) / cpus_.size());
        }
    }

    void find_cores() {
        for (const auto* cpu : cpus_)
            if (!weights_.contains(cpu->number)) ++cores_[cpu->core].threads;
        for (const auto& [number, weights] : weights_)
            if (const auto* cpu = assignment_.topology->find(number)) ++cores_[cpu->core].in_use;
        for (auto& [number, core] : cores_)
            core.node = ++core_nodes_;
    }

    MinCostFlow::Node first_cpu_node() const { return core_nodes_ + 1; }
    MinCostFlow::Node seat_node(std::size_t cpu, std::size_t seat) const {
        return first_cpu_node() + static_cast<MinCostFlow::Node>(cpu * seats_ + seat);
    }
    MinCostFlow::Node taker_node(std::size_t taker) const {
        return end_of_cpus_ + static_cast<MinCostFlow::Node>(taker);
    }

    void join_to_core(std::size_t index) {
        const auto number = cpus_[index]->number;
        for (std::size_t seat = 0; seat < seats_; ++seat) {
            const bool takes_thread = seat == 0 && !weights_.contains(number);
            auto& core = cores_[cpus_[index]->core];
            flow_.add(seat_node(index, seat), takes_thread ? core.node : end, {});
            if (takes_thread) flow_.add(core.node, end, cost_of_siblings(core.in_use++));
        }
    }

    void join_to_cpus(const CpuRequest& taker) {
        const auto taker_index = static_cast<std::size_t>(&taker - assignment_.takers.data());
        for (std::size_t index = 0; index < cpus_.size(); ++index) {
            const auto& cpu = *cpus_[index];
            if (contains(taker.own, cpu.number)) continue;
            auto cost = cost_of(taker, cpu);
            for (std::size_t seat = 0; seat < seats_; ++seat) {
                const auto arc = flow_.add(taker_node(taker_index), seat_node(index, seat), cost);
                offers_.push_back({taker_index, {seat, cpu.number}, arc});
                cost = cost + cost_of_sharing(taker.weight);
            }
        }
    }

    PlacementCost cost_of(const CpuRequest& taker, const Cpu& cpu) const {
        auto cost = cost_of_place(taker.node < 0
                                      ? 0
                                      : std::min(255U, assignment_.topology->distance(taker.node, cpu.node)),
                                  cpu.capacity < 1024 ? 1024 - cpu.capacity : 0) +
                    cost_of_habit(!contains(taker.now, cpu.number), farness(taker, cpu), cpu.number);
        if (const auto there = weights_.find(cpu.number); there != weights_.end())
            for (const auto weight : there->second)
                cost = cost + cost_of_sharing(std::min(weight, taker.weight));
        return cost;
    }

    unsigned farness(const CpuRequest& taker, const Cpu& cpu) const {
        if (!taker.cache || cpu.cache == *taker.cache) return 0;
        const auto* there = assignment_.topology->find(*taker.cache);
        return there != nullptr && there->node == cpu.node ? 1 : 2;
    }

    const Assignment& assignment_;
    std::map<unsigned, std::vector<unsigned>> weights_; ///< by CPU in use: weights of its users
    std::vector<const Cpu*> cpus_;
    std::size_t seats_ = 1; ///< per CPU
    std::map<unsigned, Core> cores_;
    MinCostFlow::Node core_nodes_ = 0, end_of_cpus_ = 0;
    MinCostFlow flow_{0};
    std::vector<Offer> offers_;
};

/// Merges equal takers of one CPU, as in a new team, into one taker (one node) of several CPUs.
class Groups {
public:
    explicit Groups(const Assignment& assignment) : assignment_(assignment), merged_(assignment) {
        merged_.takers.clear();
        for (std::size_t index = 0; index < assignment_.takers.size(); ++index)
            group_of(assignment_.takers[index]).push_back(index);
        for (std::size_t group = 0; group < members_.size(); ++group)
            if (members_[group].size() > 1)
                merged_.takers[group].count = static_cast<unsigned>(members_[group].size());
    }

    std::vector<CpuList> result() {
        auto seats = Network(merged_).result();
        std::vector<CpuList> given(assignment_.takers.size());
        for (std::size_t group = 0; group < members_.size(); ++group) {
            std::ranges::sort(seats[group], {}, [](const Seat& seat) {
                return std::tuple(seat.number, seat.cpu == 0, seat.cpu);
            });
            for (std::size_t index = 0; index < seats[group].size(); ++index)
                given[members_[group][index % members_[group].size()]].push_back(seats[group][index].cpu);
        }
        for (auto& cpus : given)
            std::ranges::sort(cpus);
        return given;
    }

private:
    std::vector<std::size_t>& group_of(const CpuRequest& taker) {
        const auto same = taker.count == 1 ? std::ranges::find(merged_.takers, taker) : merged_.takers.end();
        if (same != merged_.takers.end())
            return members_[static_cast<std::size_t>(same - merged_.takers.begin())];
        merged_.takers.push_back(taker);
        return members_.emplace_back();
    }

    const Assignment& assignment_;
    Assignment merged_; ///< one taker per group
    std::vector<std::vector<std::size_t>> members_;
};

// ---- caches ------------------------------------------------------------------------------------

class CacheChoice {
public:
    explicit CacheChoice(Assignment& assignment) : asked_(assignment) {
        std::set<unsigned> cores;
        for (const auto& taken : asked_.taken)
            if (const auto* cpu = asked_.topology->find(taken.cpu)) cores.insert(cpu->core);
        for (const auto number : asked_.eligible)
            if (const auto* cpu = asked_.topology->find(number);
                cpu != nullptr && cores.insert(cpu->core).second) {
                auto& cache = caches_[cpu->cache];
                cache.node = cpu->node;
                ++cache.room;
            }
    }

    void choose() {
        std::vector<CpuRequest*> rest;
        for (auto& taker : asked_.takers) {
            if (taker.count + taker.own.size() < 2) continue;
            taker.cache = present_cache(taker);
            if (taker.cache)
                take_cores(taker);
            else
                rest.push_back(&taker);
        }
        std::ranges::stable_sort(rest, std::ranges::greater{}, &CpuRequest::count);
        for (auto* taker : rest) {
            if (caches_.empty()) return;
            taker->cache = best_for(*taker, taker->count);
            take_cores(*taker);
        }
    }

private:
    struct Cache {
        unsigned node = 0;
        unsigned room = 0; ///< cores
    };

    std::optional<unsigned> present_cache(const CpuRequest& taker) const {
        std::map<unsigned, unsigned> cpus_behind;
        for (const auto* list : {&taker.now, &taker.own})
            for (const auto number : *list)
                if (const auto* cpu = asked_.topology->find(number);
                    cpu != nullptr && contains(asked_.eligible, number))
                    ++cpus_behind[cpu->cache];
        if (cpus_behind.empty()) return std::nullopt;
        return std::ranges::max_element(cpus_behind, {}, [](const auto& pair) { return pair.second; })->first;
    }

    unsigned best_for(const CpuRequest& taker, unsigned need) const {
        const auto cost = [&](const auto& entry) {
            const auto& [number, cache] = entry;
            return std::tuple(asked_.topology->distance(taker.node, cache.node),
                              need - std::min(need, cache.room), cache.room, number);
        };
        return std::ranges::min_element(caches_, {}, cost)->first;
    }

    /// Takes cores of the taker's cache, then of the next best caches.
    void take_cores(const CpuRequest& taker) {
        auto need = taker.count;
        if (const auto own = caches_.find(*taker.cache); own != caches_.end())
            need -= fill(own->second, need);
        while (need > 0 && !caches_.empty()) {
            auto& next = caches_.at(best_for(taker, need));
            if (next.room == 0) return; // all are full
            need -= fill(next, need);
        }
    }

    static unsigned fill(Cache& cache, unsigned need) {
        const auto goes_in = std::min(need, cache.room);
        cache.room -= goes_in;
        return goes_in;
    }

    Assignment& asked_;
    std::map<unsigned, Cache> caches_;
};

} // namespace

std::vector<CpuList> assign_cpus(const Assignment& assignment) { return Groups(assignment).result(); }

void choose_caches(Assignment& assignment) { CacheChoice(assignment).choose(); }

} // namespace teamo
