// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_plan.h"

#include "plan/interrupts/assign_cpus.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>

namespace teamo {
namespace {

// ---- the queues of a port ----------------------------------------------------------------------

class QueueAssignment {
public:
    QueueAssignment(const PlannedPort& port, const CpuList& cpus)
        : port_(port),
          is_loaded_(std::ranges::any_of(port.loads, [](double load) { return load > 0; })),
          cpus_(port.queues) {
        for (const auto cpu : cpus)
            loads_[cpu] = {};
        for (std::size_t queue = 0; queue < port.queues; ++queue)
            if (const auto cpu = port.fixed_cpu(queue))
                put(queue, *cpu);
            else
                movable_.push_back(queue);
        std::ranges::stable_sort(movable_, std::ranges::greater{},
                                 [this](std::size_t queue) { return load(queue); });
    }

    bool lacks_cpus() const { return loads_.empty() && !movable_.empty(); }

    QueueAssignment& keep_present() {
        std::erase_if(movable_, [this](std::size_t queue) {
            if (!loads_.contains(now(queue))) return false;
            put(queue, now(queue));
            return true;
        });
        return *this;
    }

    /// The largest load first, each to the CPU with the least load (Graham 1969).
    QueueAssignment& assign_rest() {
        for (const auto queue : movable_)
            put(queue, std::ranges::min_element(loads_, {}, [&](const auto& pair) {
                           return std::tuple(pair.second, pair.first != now(queue), pair.first);
                       })->first);
        return *this;
    }

    double busiest() const {
        double most = 0;
        for (const auto& [cpu, share] : loads_)
            most = std::max(most, share.load);
        return most;
    }
    const std::vector<unsigned>& cpus() const { return cpus_; }

private:
    struct Share {
        double load = 0;
        unsigned queues = 0;
        auto operator<=>(const Share&) const = default; // NOLINT(modernize-use-nullptr): as named.h
    };
    static constexpr auto nowhere = static_cast<unsigned>(-1);

    /// All equal as long as there was no traffic.
    double load(std::size_t queue) const {
        if (!is_loaded_) return 1;
        return queue < port_.loads.size() ? port_.loads[queue] : 0;
    }
    unsigned now(std::size_t queue) const { return queue < port_.now.size() ? port_.now[queue] : nowhere; }

    void put(std::size_t queue, unsigned cpu) {
        cpus_[queue] = cpu;
        if (const auto found = loads_.find(cpu); found != loads_.end()) {
            found->second.load += load(queue);
            ++found->second.queues;
        }
    }

    const PlannedPort& port_;
    bool is_loaded_;
    std::vector<unsigned> cpus_;
    std::map<unsigned, Share> loads_; ///< by eligible CPU
    std::vector<std::size_t> movable_;
};

/// By queue. Fixed queues keep their CPU. The others keep theirs if it is in `cpus`, unless a new assignment,
/// largest load first, takes more than a fifth off the busiest CPU.
/// `cpus`: for movable queues. If it is empty and a queue is movable, the result is empty.
std::vector<unsigned> queue_cpus(const PlannedPort& port, const CpuList& cpus) {
    constexpr double worthwhile_share = 0.8;
    QueueAssignment kept(port, cpus);
    if (kept.lacks_cpus()) return {};
    auto renewed = kept;
    kept.keep_present().assign_rest();
    renewed.assign_rest();
    return (renewed.busiest() < worthwhile_share * kept.busiest() ? renewed : kept).cpus();
}

// ---- the ports ---------------------------------------------------------------------------------

/// Sorted by name, "eth2" before "eth10", so that the input's order does not matter.
std::vector<const PlannedPort*> in_order(const std::vector<PlannedPort>& ports) {
    std::vector<const PlannedPort*> order;
    for (const auto& port : ports)
        order.push_back(&port);
    std::ranges::sort(order, {},
                      [](const PlannedPort* port) { return std::pair(port->name.size(), port->name); });
    return order;
}

/// The CPUs of its managed interrupts.
CpuList fixed_cpus(const PlannedPort& port) {
    CpuList cpus;
    for (std::size_t queue = 0; queue < port.queues; ++queue)
        if (const auto cpu = port.fixed_cpu(queue)) cpus.push_back(*cpu);
    return cpu_list_of(std::move(cpus));
}

/// The present CPUs of the movable queues.
CpuList present_cpus(const PlannedPort& port) {
    CpuList cpus;
    for (std::size_t queue = 0; queue < std::min<std::size_t>(port.queues, port.now.size()); ++queue)
        if (!port.fixed_cpu(queue)) cpus.push_back(port.now[queue]);
    return cpu_list_of(std::move(cpus));
}

unsigned movable_queues(const PlannedPort& port) {
    unsigned count = 0;
    for (std::size_t queue = 0; queue < port.queues; ++queue)
        if (!port.fixed_cpu(queue)) ++count;
    return count;
}

PlacedPort placed_port(const PlannedPort& port, const CpuList& cpus) {
    PlacedPort placed{.name = port.name, .cpus = queue_cpus(port, cpus)};
    placed.moves = has_to_move(port, placed.cpus);
    return placed;
}

class Planner {
public:
    explicit Planner(const InterruptPlanInput& input)
        : input_(input),
          eligible_(input.topology->eligible_for_interrupts(input.allowed)),
          ports_(in_order(input.ports)),
          limits_(ports_.size(), std::numeric_limits<unsigned>::max()) {
        for (const auto* port : ports_)
            heaviest_ = std::max(heaviest_, port->load);
        for (const auto& claim : input.claims)
            heaviest_ = std::max(heaviest_, claim.load);
    }

    InterruptPlan result() {
        auto plan = place();
        while (!plan)
            plan = place(); // each time with fewer CPUs for a port
        explain(input_, eligible_, *plan);
        return std::move(*plan);
    }

private:
    /// None if a port leaves a CPU unused that another one may need: its queues stay where they are, because
    /// too few of them have a load. limits_ then has what it uses.
    std::optional<InterruptPlan> place() {
        const auto assignment = build_assignment();
        const auto given = assign_cpus(assignment);
        InterruptPlan plan;
        plan.ports.resize(ports_.size());
        bool leaves_some = false;
        for (std::size_t index = 0; index < ports_.size(); ++index) {
            const auto& own = assignment.takers[index].own;
            auto placed = placed_port(*ports_[index], united(own, given[index]));
            const auto used = std::ranges::count_if(
                given[index], [&](unsigned cpu) { return std::ranges::count(placed.cpus, cpu) > 0; });
            if (const auto count = static_cast<std::size_t>(used); count < given[index].size()) {
                limits_[index] = static_cast<unsigned>(own.size() + count);
                leaves_some = true;
            }
            plan.ports[static_cast<std::size_t>(ports_[index] - input_.ports.data())] = std::move(placed);
        }
        return leaves_some ? std::nullopt : std::optional(std::move(plan));
    }

    /// Loads are rounded to powers of two, 16 to 2, so that small changes move nothing; standby is 1.
    unsigned weight(double load, bool standby) const {
        if (standby) return 1;
        for (unsigned weight = 16; weight > 2; weight /= 2)
            if (load * 16 * std::numbers::sqrt2 >= heaviest_ * weight) return weight;
        return 2;
    }

    Assignment build_assignment() const {
        Assignment assignment{.topology = input_.topology, .eligible = eligible_, .takers = {}};
        for (const auto& claim : input_.claims)
            assignment.taken.push_back({claim.cpu, weight(claim.load, claim.standby)});
        for (const auto* port : ports_) {
            CpuRequest taker{.node = port->node,
                             .count = 0,
                             .weight = weight(port->load, port->standby),
                             .now = present_cpus(*port)};
            const auto fixed = fixed_cpus(*port);
            for (const auto cpu : fixed)
                assignment.taken.push_back({cpu, taker.weight});
            std::ranges::set_intersection(fixed, eligible_, std::back_inserter(taker.own));
            assignment.takers.push_back(std::move(taker));
        }
        set_counts(assignment);
        choose_caches(assignment);
        return assignment;
    }

    void set_counts(Assignment& assignment) const {
        CpuList taken, free;
        for (const auto& cpu : assignment.taken)
            taken.push_back(cpu.cpu);
        std::ranges::sort(taken);
        std::ranges::set_difference(eligible_, taken, std::back_inserter(free));
        std::vector<CountedPort> counted;
        for (std::size_t index = 0; index < ports_.size(); ++index)
            counted.push_back(countable(index, assignment.takers[index]));
        const auto totals = cpu_counts(*input_.topology, free, taken, counted);
        for (std::size_t index = 0; index < ports_.size(); ++index)
            if (movable_queues(*ports_[index]) > 0)
                assignment.takers[index].count = totals[index] - counted[index].fixed;
    }

    CountedPort countable(std::size_t index, const CpuRequest& taker) const {
        const auto& port = *ports_[index];
        const auto fixed = static_cast<unsigned>(taker.own.size());
        auto now = united(taker.now, taker.own);
        std::erase_if(now, [this](unsigned cpu) { return !contains(eligible_, cpu); });
        const auto most = std::min(port.standby ? fixed : fixed + movable_queues(port), limits_[index]);
        return {port.node, fixed, std::max(1U, most), static_cast<unsigned>(now.size()), port.load};
    }

    const InterruptPlanInput& input_;
    CpuList eligible_;
    std::vector<const PlannedPort*> ports_;
    std::vector<unsigned> limits_; ///< by port of ports_: the CPUs that its queues use of those it could get
    double heaviest_ = 0;
};

/// The present CPU of each queue; empty if a queue has several.
std::vector<unsigned> cpus_now(const PortInterrupts& port) {
    std::vector<unsigned> cpus;
    for (const auto& queue : port.queues) {
        const auto& vector = queue.vectors.front();
        const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
        if (where.size() != 1) return {};
        cpus.push_back(where.front());
    }
    return cpus;
}

std::vector<std::optional<unsigned>> fixed_of(const PortInterrupts& port) {
    std::vector<std::optional<unsigned>> fixed;
    for (const auto& queue : port.queues) {
        const auto held = std::ranges::find(queue.vectors, false, &IrqVector::movable);
        const bool known = held != queue.vectors.end() && held->effective.size() == 1;
        fixed.push_back(known ? std::optional(held->effective.front()) : std::nullopt);
    }
    return fixed;
}

} // namespace

PlannedPort planned_port(std::string name, const PortInterrupts& port) {
    return {.name = std::move(name),
            .node = port.node,
            .queues = static_cast<unsigned>(port.queues.size()),
            .now = cpus_now(port),
            .fixed = fixed_of(port)};
}

bool has_to_move(const PlannedPort& port, const std::vector<unsigned>& cpus) {
    for (std::size_t queue = 0; queue < std::min(cpus.size(), port.now.size()); ++queue)
        if (cpus[queue] != port.now[queue]) return true;
    return false;
}

InterruptPlan plan_interrupts(const InterruptPlanInput& input) { return Planner(input).result(); }

} // namespace teamo
