// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_plan.h"

#include "plan/workers/worker_cpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

constexpr std::size_t longest_command = 15; // TASK_COMM_LEN, less the NUL

/// "/a" contains "/a" and "/a/b", but not "/ab".
bool is_within(std::string_view cgroup, std::string_view holder) {
    while (holder.ends_with('/'))
        holder.remove_suffix(1);
    return cgroup.starts_with(holder) && (cgroup.size() == holder.size() || cgroup[holder.size()] == '/');
}

bool fits(const WorkerRule& rule, const Worker& worker, const std::map<std::string, uid_t>& users) {
    switch (rule.selector) {
    case WorkerSelector::unit: return !worker.unit.empty() && matches(rule.name, worker.unit);
    case WorkerSelector::cgroup: return is_within(worker.cgroup, rule.name);
    case WorkerSelector::command:
        // The kernel cuts longer names.
        return matches(rule.name, worker.command) ||
               (rule.name.size() > longest_command && rule.name.substr(0, longest_command) == worker.command);
    case WorkerSelector::user: {
        const auto user = users.find(rule.name);
        return user != users.end() && user->second == worker.user;
    }
    }
    return false;
}

constexpr unsigned decisive_windows = 3; // this many in a row must agree before a worker moves
/// The share of a worker's traffic that one CPU or port must have for a move, and to stay.
constexpr double dominant_share = 0.6, kept_share = 0.5;
/// Per second. Below both there is too little traffic for a decision.
constexpr double least_bytes = 50'000, least_packets = 50;

using Nearness = WorkerPlanner::Nearness;

/// The CPU, or the CPUs of the port, on which a worker's packets arrive.
struct Anchor {
    CpuList cpus;
    std::string text; ///< "92 % of its traffic arrives on CPU 2 (eth1)"
};

template <class Map>
auto fullest(const Map& map) {
    return std::ranges::max_element(map, {}, [](const auto& entry) { return entry.second; });
}

int per_cent(double share) { return static_cast<int>(std::lround(share * 100)); }

/// `interrupts`: share of time in interrupts of the quietest anchor: room on one is enough.
Nearness nearness_at(double interrupts, std::optional<Nearness> now) {
    constexpr double idle = 0.3, busy = 0.7, margin = 0.05;
    // Hysteresis: the present nearness stays until the load has clearly changed.
    const auto below = [&](double bound, bool is_below) {
        return interrupts < (now ? bound + (is_below ? margin : -margin) : bound);
    };
    if (below(idle, now == Nearness::same)) return Nearness::same;
    return below(busy, now != Nearness::apart) ? Nearness::beside : Nearness::apart;
}

} // namespace

/// The plan of one window.
class WorkerPlanner::Pass {
public:
    Pass(const WorkerPlanInput& input, Time now, double seconds)
        : input_(input), now_(now), seconds_(seconds), cpus_(input) {}

    /// Counts the worker's present or wanted CPUs as used, for the choice of other workers.
    void occupy(const ActiveWorker& active, const WorkerState& state) {
        cpus_.give(claim_of(state), active.work);
    }

    void place(const ActiveWorker& active, WorkerState& state) {
        cpus_.take(claim_of(state), active.work);
        const auto usable = cpus_.usable(active.allowed);
        if (!std::ranges::includes(usable, state.cpus)) state = {};
        if (active.policy == WorkerPolicy::off)
            state = {.reason = "policy off"};
        else if (usable.empty())
            state = {.reason = "no CPU of its cpuset is online and not isolated"};
        else if (active.policy == WorkerPolicy::spread)
            spread(active, usable, state);
        else
            follow(active, usable, state);
        occupy(active, state);
    }

private:
    static const CpuList& claim_of(const WorkerState& state) {
        return state.cpus.empty() && state.windows > 0 ? state.wanted : state.cpus;
    }

    /// None: no CPU or port dominates.
    std::optional<Anchor> anchor_of(const ActiveWorker& active, const WorkerState& state) const {
        const auto& traffic = active.traffic;
        if (const auto [cpu, share] = top_cpu(traffic); share >= needed_share({cpu}, state)) {
            const auto port = cpus_.port_of(cpu);
            return Anchor{.cpus = {cpu},
                          .text = fmt::format("{} % of its traffic arrives on CPU {}{}", per_cent(share), cpu,
                                              port.empty() ? "" : fmt::format(" ({})", port))};
        }
        const auto top = fullest(traffic.by_port);
        if (top == traffic.by_port.end() || traffic.bytes == 0) return std::nullopt;
        const auto port = std::ranges::find(input_.ports, top->first, &WorkerPort::name);
        const auto share = static_cast<double>(top->second) / static_cast<double>(traffic.bytes);
        if (port == input_.ports.end() || port->cpus.empty() || share < needed_share(port->cpus, state))
            return std::nullopt;
        return Anchor{.cpus = port->cpus,
                      .text = fmt::format("{} % of its traffic arrives on {} (CPU {})", per_cent(share),
                                          port->name, text_of(port->cpus))};
    }

    static double needed_share(const CpuList& cpus, const WorkerState& state) {
        return state.followed == cpus || state.adopted ? kept_share : dominant_share;
    }

    /// The present nearness to an anchor.
    static std::optional<Nearness> nearness_now(const CpuList& anchor, const WorkerState& state) {
        if (state.followed == anchor) return state.nearness;
        const bool on_it = state.adopted && contains(anchor, state.cpus.front());
        return on_it ? std::optional(Nearness::same) : std::nullopt;
    }

    static std::pair<unsigned, double> top_cpu(const ProcessTraffic& traffic) {
        const auto top = fullest(traffic.by_cpu);
        if (top == traffic.by_cpu.end() || top->second == 0) return {0, 0};
        double sum = 0;
        for (const auto& [cpu, bytes] : traffic.by_cpu)
            sum += static_cast<double>(bytes);
        return {top->first, static_cast<double>(top->second) / sum};
    }

    bool is_quiet(const ProcessTraffic& traffic) const {
        return static_cast<double>(traffic.bytes) < least_bytes * seconds_ &&
               static_cast<double>(traffic.packets) < least_packets * seconds_;
    }

    void follow(const ActiveWorker& active, const CpuList& usable, WorkerState& state) const {
        if (is_quiet(active.traffic)) { // neither for nor against a change
            state.windows = 0;
            if (state.cpus.empty()) state.reason = "too little traffic for a decision";
            return;
        }
        const auto anchor = anchor_of(active, state);
        if (!anchor) {
            settle({}, state,
                   fmt::format("no CPU or port receives {} % of its traffic; the most on one CPU is {} %",
                               per_cent(dominant_share), per_cent(top_cpu(active.traffic).second)));
            if (state.cpus.empty()) state.followed.clear();
            return;
        }
        const auto anchor_cpu = *std::ranges::min_element(
            anchor->cpus, {}, [this](unsigned cpu) { return cpus_.interrupts(cpu); });
        const auto nearness = nearness_at(cpus_.interrupts(anchor_cpu), nearness_now(anchor->cpus, state));
        const auto count = count_for(active, state);
        const auto cpus = cpus_.near({.usable = usable,
                                      .anchors = anchor->cpus,
                                      .nearness = nearness,
                                      .count = count,
                                      .work = active.work,
                                      .now = claim_of(state)});
        auto reason = anchor->text;
        if (cpus.empty())
            reason += fmt::format(", but fewer than {} usable CPUs are near", count);
        else if (count > 1)
            reason += fmt::format("; its threads need {} CPUs", count);
        else if (!contains(anchor->cpus, cpus[0]))
            reason += why_beside(cpus[0], anchor_cpu, usable, nearness);
        if (settle(cpus, state, reason)) {
            state.followed = cpus.empty() ? CpuList{} : anchor->cpus;
            state.nearness = nearness;
        }
    }

    std::string why_beside(unsigned cpu, unsigned anchor, const CpuList& usable, Nearness nearness) const {
        const auto where = cpus_.relation(cpu, anchor);
        if (!contains(usable, anchor))
            return fmt::format(
                "; it may not use that CPU (isolated, offline or outside its cpuset): placed on {}", where);
        if (nearness == Nearness::same)
            return fmt::format("; other workers use that CPU: placed on {}", where);
        return fmt::format("; that CPU spends {} % of its time in interrupts: placed on {}",
                           per_cent(cpus_.interrupts(anchor)), where);
    }

    void spread(const ActiveWorker& active, const CpuList& usable, WorkerState& state) const {
        CpuList anchors;
        if (const auto anchor = anchor_of(active, state)) anchors = anchor->cpus;
        const auto cpu = cpus_.own({.usable = usable, .anchors = anchors, .now = claim_of(state)});
        const auto others = cpus_.workers_on(cpu);
        const auto reason =
            others == 0
                ? fmt::format("has CPU {} alone", cpu)
                : fmt::format("shares CPU {} with {} others: there are fewer CPUs than workers", cpu, others);
        if (state.cpus.empty()) // no need to wait for traffic
            state = {.cpus = {cpu}, .reason = reason};
        else
            settle({cpu}, state, reason);
    }

    /// A process whose threads need more than one CPU would lose throughput on one.
    unsigned count_for(const ActiveWorker& active, const WorkerState& state) const {
        constexpr double saturated = 0.9, idle = 0.5;
        if (active.worker.threads <= 1) return 1;
        double count = std::max(1.0, std::ceil(active.work - 0.1));
        if (const auto now = state.cpus.size(); now > 0) {
            double room = 0;
            for (const auto cpu : state.cpus)
                room += 1 - cpus_.interrupts(cpu);
            const auto size = static_cast<double>(now);
            count = active.work > saturated * room               ? size + 1
                    : now > 1 && active.work < idle * (size - 1) ? size - 1
                                                                 : size;
        }
        return static_cast<unsigned>(std::min(count, static_cast<double>(active.worker.threads)));
    }

    /// Puts `cpus` in force once enough windows agreed; returns whether they are in force.
    bool settle(const CpuList& cpus, WorkerState& state, const std::string& reason) const {
        bool in_force = cpus == state.cpus;
        if (!in_force) {
            if (state.windows == 0 || state.wanted != cpus) {
                state.wanted = cpus;
                state.windows = 0;
                state.since = now_;
            }
            ++state.windows;
            in_force = state.windows >= decisive_windows &&
                       now_ - state.since + worker_window / 2 >= worker_window * (decisive_windows - 1);
        }
        if (in_force) {
            state.cpus = cpus;
            state.adopted = false;
            state.windows = 0;
            state.reason = reason;
        } else if (state.cpus.empty()) {
            state.reason = fmt::format("{}: {} of {} measurements agree; bound when all agree", reason,
                                       state.windows, decisive_windows);
        }
        return in_force;
    }

    const WorkerPlanInput& input_;
    Time now_;
    double seconds_;
    WorkerCpus cpus_;
};

const WorkerRule* rule_for(const Worker& worker, std::span<const WorkerRule> rules,
                           const std::map<std::string, uid_t>& users) {
    const auto found =
        std::ranges::find_if(rules, [&](const WorkerRule& rule) { return fits(rule, worker, users); });
    return found == rules.end() ? nullptr : &*found;
}

bool matches(std::string_view pattern, std::string_view name) {
    // After a mismatch the last * takes one more character; earlier ones need no other attempt.
    std::size_t at = 0, star = std::string_view::npos, taken = 0, here = 0;
    while (here < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = here;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[here])) {
            ++at;
            ++here;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            here = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

void WorkerPlanner::adopt(ProcessId id, const CpuList& cpus) {
    if (!cpus.empty()) states_[id] = {.cpus = cpus, .reason = "placed by an earlier daemon", .adopted = true};
}

std::vector<WorkerPlacement> WorkerPlanner::step(const WorkerPlanInput& input, Time now) {
    std::map<ProcessId, WorkerState> states;
    std::vector<const ActiveWorker*> order;
    for (const auto& active : input.workers) {
        order.push_back(&active);
        states.try_emplace(active.worker.id, states_[active.worker.id]);
    }
    // Workers with CPUs choose before those without; then those with more traffic.
    std::ranges::sort(order, {}, [&](const ActiveWorker* active) {
        const bool placed = !states.at(active->worker.id).cpus.empty();
        return std::tuple(active->policy == WorkerPolicy::spread, !placed,
                          placed ? 0 : ~active->traffic.bytes, active->worker.id);
    });
    const auto seconds =
        std::chrono::duration<double>(last_ ? now - *last_ : Time::duration(worker_window)).count();
    last_ = now;
    Pass pass(input, now, seconds);
    for (const auto* active : order)
        pass.occupy(*active, states.at(active->worker.id));
    for (const auto* active : order)
        pass.place(*active, states.at(active->worker.id));

    states_ = std::move(states);
    std::vector<WorkerPlacement> placements;
    for (const auto& [id, state] : states_)
        placements.push_back({.id = id, .cpus = state.cpus, .reason = state.reason});
    return placements;
}

} // namespace teamo
