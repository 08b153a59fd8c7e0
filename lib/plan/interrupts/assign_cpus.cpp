// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/assign_cpus.h"

#include "plan/interrupts/min_cost_flow.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace teamo {
namespace {

bool contains(const CpuList& cpus, unsigned cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); }

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
        if (!taker.home || cpu.cache == *taker.home) return 0;
        const auto* home = assignment_.topology->find(*taker.home);
        return home != nullptr && home->node == cpu.node ? 1 : 2;
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

/// Merges equal takers of one CPU, as in a new team, into one taker of several CPUs: one node instead of
/// many.
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

} // namespace

std::vector<CpuList> assign_cpus(const Assignment& assignment) { return Groups(assignment).result(); }

} // namespace teamo
