// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_plan.h"

#include "plan/interrupts/assign_cpus.h"
#include "plan/interrupts/cpu_counts.h"
#include "plan/interrupts/home_caches.h"
#include "plan/interrupts/placement_reason.h"
#include "plan/interrupts/queue_cpus.h"

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

/// Isolated CPUs are eligible only if the configuration lists them.
CpuList eligible_cpus(const CpuTopology& topology, CpuList allowed) {
    allowed = cpu_list_of(std::move(allowed));
    CpuList cpus;
    for (const auto& cpu : topology.cpus)
        if (cpu.online && (allowed.empty() ? !cpu.isolated : contains(allowed, cpu.number)))
            cpus.push_back(cpu.number);
    return cpus;
}

/// Sorted by name, "eth2" before "eth10", so that the input's order does not matter.
std::vector<const PlannedPort*> in_order(const std::vector<PlannedPort>& ports) {
    std::vector<const PlannedPort*> order;
    order.reserve(ports.size());
    for (const auto& port : ports)
        order.push_back(&port);
    std::ranges::sort(order, {},
                      [](const PlannedPort* port) { return std::pair(port->name.size(), port->name); });
    return order;
}

class Planner {
public:
    explicit Planner(const InterruptPlanInput& input)
        : input_(input),
          eligible_(eligible_cpus(*input.topology, input.allowed)),
          ports_(in_order(input.ports)) {
        for (const auto* port : ports_)
            heaviest_ = std::max(heaviest_, port->load);
        for (const auto& claim : input.claims)
            heaviest_ = std::max(heaviest_, claim.load);
    }

    InterruptPlan result() {
        const auto assignment = build_assignment();
        const auto given = assign_cpus(assignment);
        InterruptPlan plan;
        plan.ports.resize(input_.ports.size());
        for (std::size_t index = 0; index < ports_.size(); ++index) {
            auto cpus = assignment.takers[index].own;
            cpus.insert(cpus.end(), given[index].begin(), given[index].end());
            place(*ports_[index], cpu_list_of(std::move(cpus)), placed(plan, index));
        }
        explain(plan);
        return plan;
    }

private:
    PlacedPort& placed(InterruptPlan& plan, std::size_t index) const {
        return plan.ports[static_cast<std::size_t>(ports_[index] - input_.ports.data())];
    }

    /// Loads are rounded to powers of two, 16 to 2, so that small changes move nothing; standby is 1.
    unsigned weight(double load, bool standby) const {
        if (standby) return 1;
        for (unsigned weight = 16; weight > 2; weight /= 2)
            if (load * 16 * std::sqrt(2.0) >= heaviest_ * weight) return weight;
        return 2;
    }

    /// The CPUs of its managed interrupts.
    static CpuList fixed_cpus(const PlannedPort& port) {
        CpuList cpus;
        for (std::size_t queue = 0; queue < port.queues; ++queue)
            if (const auto cpu = fixed_cpu(port, queue)) cpus.push_back(*cpu);
        return cpu_list_of(std::move(cpus));
    }

    /// The present CPUs of the movable queues.
    static CpuList present_cpus(const PlannedPort& port) {
        CpuList cpus;
        for (std::size_t queue = 0; queue < std::min<std::size_t>(port.queues, port.now.size()); ++queue)
            if (!fixed_cpu(port, queue)) cpus.push_back(port.now[queue]);
        return cpu_list_of(std::move(cpus));
    }

    Assignment build_assignment() const {
        Assignment assignment{input_.topology, eligible_, {}, {}};
        for (const auto& claim : input_.claims)
            assignment.taken.push_back({claim.cpu, weight(claim.load, claim.standby)});
        for (const auto* port : ports_)
            for (const auto cpu : fixed_cpus(*port))
                assignment.taken.push_back({cpu, weight(port->load, port->standby)});
        const auto wanted = counts(assignment.taken);
        for (std::size_t index = 0; index < ports_.size(); ++index) {
            const auto& port = *ports_[index];
            CpuRequest taker{port.node,          wanted[index].count, weight(port.load, port.standby),
                             present_cpus(port), wanted[index].own,   {}};
            assignment.takers.push_back(std::move(taker));
        }
        choose_homes(assignment);
        return assignment;
    }

    struct Wanted {
        unsigned count = 0; ///< in addition to `own`
        CpuList own;        ///< CPUs of its managed interrupts that its other queues may use too
    };

    std::vector<Wanted> counts(const std::vector<TakenCpu>& taken) const {
        CpuList taken_cpus, free;
        for (const auto& cpu : taken)
            taken_cpus.push_back(cpu.cpu);
        std::ranges::sort(taken_cpus);
        std::ranges::set_difference(eligible_, taken_cpus, std::back_inserter(free));
        std::vector<Wanted> wanted;
        std::vector<CountedPort> counted;
        for (const auto* port : ports_) {
            Wanted wants;
            std::ranges::set_intersection(fixed_cpus(*port), eligible_, std::back_inserter(wants.own));
            counted.push_back(countable(*port, wants.own));
            wanted.push_back(std::move(wants));
        }
        const auto totals = cpu_counts(*input_.topology, free, taken_cpus, counted);
        for (std::size_t index = 0; index < wanted.size(); ++index)
            if (movable_queues(*ports_[index]) > 0)
                wanted[index].count = totals[index] - static_cast<unsigned>(wanted[index].own.size());
        return wanted;
    }

    static unsigned movable_queues(const PlannedPort& port) {
        unsigned count = 0;
        for (std::size_t queue = 0; queue < port.queues; ++queue)
            if (!fixed_cpu(port, queue)) ++count;
        return count;
    }

    CountedPort countable(const PlannedPort& port, const CpuList& own) const {
        const auto fixed = static_cast<unsigned>(own.size());
        auto now = present_cpus(port);
        now.insert(now.end(), own.begin(), own.end());
        now = cpu_list_of(std::move(now));
        std::erase_if(now, [this](unsigned cpu) { return !contains(eligible_, cpu); });
        return {port.node, fixed, std::max(1U, port.standby ? fixed : fixed + movable_queues(port)),
                static_cast<unsigned>(now.size()), port.load};
    }

    static void place(const PlannedPort& port, const CpuList& cpus, PlacedPort& placed) {
        placed.name = port.name;
        placed.cpus = queue_cpus(port, cpus);
        for (std::size_t queue = 0; queue < std::min(placed.cpus.size(), port.now.size()); ++queue)
            placed.moves = placed.moves || placed.cpus[queue] != port.now[queue];
    }

    void explain(InterruptPlan& plan) const {
        Occupancy occupancy;
        for (std::size_t index = 0; index < ports_.size(); ++index)
            for (const auto cpu : cpu_list_of(placed(plan, index).cpus))
                occupancy.ports[cpu].push_back(ports_[index]->name);
        for (const auto& claim : input_.claims)
            occupancy.claims[claim.cpu].push_back(claim.owner);
        for (auto& port : plan.ports)
            port.shares_with = sharers(occupancy, cpu_list_of(port.cpus), port.name);
        for (std::size_t index = 0; index < ports_.size(); ++index) {
            auto& port = placed(plan, index);
            port.reason = placement_reason(input_, eligible_, occupancy, *ports_[index], port);
        }
        plan.degraded = degraded_because(input_, eligible_, occupancy, plan.ports);
    }

    const InterruptPlanInput& input_;
    CpuList eligible_;
    std::vector<const PlannedPort*> ports_;
    double heaviest_ = 0;
};

} // namespace

InterruptPlan plan_interrupts(const InterruptPlanInput& input) { return Planner(input).result(); }

} // namespace teamo
