// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_plan.h"

#include "plan/workers/worker_cpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

using Nearness = WorkerPlanner::Nearness;

/// The CPU, or the ports' CPUs, that a worker's packets arrive on.
struct Anchor {
    CpuList cpus;
    std::string text; ///< "92 % of its traffic arrives on CPU 2 (eth1)"
};

template <class Map>
auto fullest(const Map& map) {
    return std::ranges::max_element(map, {}, [](const auto& entry) { return entry.second; });
}

int per_cent(double share) { return static_cast<int>(std::lround(share * 100)); }

/// Of the anchors' interrupts, by the one that has least: there is room if any has.
Nearness nearness_at(double interrupts, std::optional<Nearness> now) {
    constexpr double idle = 0.3, busy = 0.7, margin = 0.05;
    // Where it is already it stays until the load is clearly another.
    const auto below = [&](double bound, bool is_below) {
        return interrupts < (now ? bound + (is_below ? margin : -margin) : bound);
    };
    if (below(idle, now == Nearness::same)) return Nearness::same;
    return below(busy, now != Nearness::apart) ? Nearness::beside : Nearness::apart;
}

} // namespace

/// One window: the workers in the order in which they choose.
class WorkerPlanner::Pass {
public:
    Pass(const WorkerPremises& premises, const WorkerSettings& settings, Time now, double seconds)
        : premises_(premises), settings_(settings), now_(now), seconds_(seconds), cpus_(premises) {}

    /// Where it is, or is about to be: others choose with that in mind.
    void occupy(const ActiveWorker& active, const Standing& standing) {
        cpus_.give(claim_of(standing), active.work);
    }

    void place(const ActiveWorker& active, Standing& standing) {
        cpus_.take(claim_of(standing), active.work);
        if (!standing.cpus.empty() && !cpus_.are_usable(standing.cpus)) standing = {};
        if (active.policy == WorkerPolicy::off || cpus_.usable() == 0)
            standing = {.reason = active.policy == WorkerPolicy::off ? "policy off" : "no CPU is allowed"};
        else if (active.policy == WorkerPolicy::spread)
            spread(active, standing);
        else
            follow(active, standing);
        occupy(active, standing);
    }

private:
    static const CpuList& claim_of(const Standing& standing) {
        return standing.cpus.empty() && standing.windows > 0 ? standing.wished : standing.cpus;
    }

    /// None: nothing dominates.
    std::optional<Anchor> anchor_of(const ActiveWorker& active, const Standing& standing) const {
        const auto& traffic = active.traffic;
        if (const auto [cpu, share] = top_cpu(traffic); share >= needed_share(cpu, standing)) {
            const auto port = cpus_.port_of(cpu);
            return Anchor{.cpus = {cpu},
                          .text = fmt::format("{} % of its traffic arrives on CPU {}{}", per_cent(share), cpu,
                                              port.empty() ? "" : fmt::format(" ({})", port))};
        }
        const auto top = fullest(traffic.by_port);
        if (top == traffic.by_port.end() || traffic.bytes == 0) return std::nullopt;
        const auto port = std::ranges::find(premises_.ports, top->first, &WorkerPort::name);
        const auto share = static_cast<double>(top->second) / static_cast<double>(traffic.bytes);
        if (port == premises_.ports.end() || port->cpus.empty() ||
            share < (standing.followed == port->cpus ? settings_.kept : settings_.dominant))
            return std::nullopt;
        return Anchor{.cpus = port->cpus,
                      .text = fmt::format("{} % of its traffic arrives by {} (CPU {})", per_cent(share),
                                          port->name, text_of(port->cpus))};
    }

    double needed_share(unsigned cpu, const Standing& standing) const {
        return standing.followed == CpuList{cpu} ? settings_.kept : settings_.dominant;
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
        return static_cast<double>(traffic.bytes) < static_cast<double>(settings_.least_bytes) * seconds_ &&
               static_cast<double>(traffic.packets) < static_cast<double>(settings_.least_packets) * seconds_;
    }

    void follow(const ActiveWorker& active, Standing& standing) const {
        if (is_quiet(active.traffic)) { // says nothing for a change, and nothing against it
            standing.windows = 0;
            if (standing.cpus.empty()) standing.reason = "too little traffic to go by";
            return;
        }
        const auto anchor = anchor_of(active, standing);
        if (!anchor) return leave_alone(active, standing);
        const auto anchor_cpu = quietest(anchor->cpus);
        const auto nearness =
            nearness_at(cpus_.interrupts(anchor_cpu),
                        standing.followed == anchor->cpus ? std::optional(standing.nearness) : std::nullopt);
        const auto count = count_for(active, standing);
        const auto cpus = cpus_.near({.anchors = anchor->cpus,
                                      .nearness = nearness,
                                      .count = count,
                                      .work = active.work,
                                      .now = claim_of(standing)});
        auto reason = anchor->text;
        if (cpus.empty())
            reason += fmt::format(", but there are not {} CPUs near that it may use", count);
        else if (count > 1)
            reason += fmt::format("; its threads need {} CPUs", count);
        else if (std::ranges::find(anchor->cpus, cpus[0]) == anchor->cpus.end())
            reason += why_beside(cpus[0], anchor_cpu, nearness);
        if (settle(cpus, standing, reason)) {
            standing.followed = cpus.empty() ? CpuList{} : anchor->cpus;
            standing.nearness = nearness;
        }
    }

    unsigned quietest(const CpuList& cpus) const {
        return *std::ranges::min_element(cpus, {}, [this](unsigned cpu) { return cpus_.interrupts(cpu); });
    }

    std::string why_beside(unsigned cpu, unsigned anchor, Nearness nearness) const {
        const auto where = cpus_.relation(cpu, anchor);
        if (!cpus_.is_usable(anchor)) return fmt::format("; workers may not run there: {}", where);
        if (nearness == Nearness::same) return fmt::format("; other workers have that: {}", where);
        return fmt::format("; that has {} % of interrupts: {}", per_cent(cpus_.interrupts(anchor)), where);
    }

    void leave_alone(const ActiveWorker& active, Standing& standing) const {
        settle({}, standing, fmt::format("no dominant CPU: {} %", per_cent(top_cpu(active.traffic).second)));
        if (standing.cpus.empty()) standing.followed.clear();
    }

    void spread(const ActiveWorker& active, Standing& standing) const {
        CpuList anchors;
        if (const auto anchor = anchor_of(active, standing)) anchors = anchor->cpus;
        const auto cpu = cpus_.own({.anchors = anchors, .now = claim_of(standing)});
        const auto others = cpus_.workers_on(cpu);
        const auto reason = others == 0
                                ? fmt::format("CPU {} for itself", cpu)
                                : fmt::format("CPU {} with {} more: fewer CPUs than workers", cpu, others);
        if (standing.cpus.empty()) { // needs no traffic to be seen first
            standing = {.cpus = {cpu}, .reason = reason};
            return;
        }
        settle({cpu}, standing, reason);
    }

    /// A process whose threads want more than a CPU would lose by being put on one.
    unsigned count_for(const ActiveWorker& active, const Standing& standing) const {
        constexpr double saturated = 0.9, idle = 0.5;
        if (active.worker.threads <= 1) return 1;
        double count = std::max(1.0, std::ceil(active.work - 0.1));
        if (const auto now = standing.cpus.size(); now > 0) {
            double room = 0;
            for (const auto cpu : standing.cpus)
                room += 1 - cpus_.interrupts(cpu);
            const auto size = static_cast<double>(now);
            count = active.work > saturated * room               ? size + 1
                    : now > 1 && active.work < idle * (size - 1) ? size - 1
                                                                 : size;
        }
        return static_cast<unsigned>(std::min(count, static_cast<double>(active.worker.threads)));
    }

    /// Takes over what was wished for in enough windows; whether `cpus` are in force.
    bool settle(const CpuList& cpus, Standing& standing, const std::string& reason) const {
        if (cpus == standing.cpus) {
            standing.windows = 0;
            standing.reason = reason;
            return true;
        }
        if (standing.windows == 0 || standing.wished != cpus) {
            standing.wished = cpus;
            standing.windows = 0;
            standing.since = now_;
        }
        ++standing.windows;
        const bool long_enough =
            now_ - standing.since + settings_.window / 2 >= settings_.window * (settings_.windows - 1);
        if (standing.windows >= settings_.windows && long_enough) {
            standing.cpus = cpus;
            standing.windows = 0;
            standing.reason = reason;
            return true;
        }
        if (standing.cpus.empty())
            standing.reason =
                fmt::format("{}: seen in {} of {} windows", reason, standing.windows, settings_.windows);
        return false;
    }

    const WorkerPremises& premises_;
    const WorkerSettings& settings_;
    Time now_;
    double seconds_;
    WorkerCpus cpus_;
};

std::vector<WorkerPlacement> WorkerPlanner::step(const WorkerPremises& premises, Time now) {
    std::map<ProcessId, Standing> standings;
    std::vector<const ActiveWorker*> order;
    for (const auto& active : premises.workers) {
        order.push_back(&active);
        if (const auto found = standings_.find(active.worker.id); found != standings_.end())
            standings.insert(*found);
        else
            standings.try_emplace(active.worker.id);
    }
    // Who has a place chooses before who has none; then who takes in more.
    std::ranges::sort(order, {}, [&](const ActiveWorker* active) {
        const bool placed = !standings.at(active->worker.id).cpus.empty();
        return std::tuple(active->policy == WorkerPolicy::spread, !placed,
                          placed ? 0 : ~active->traffic.bytes, active->worker.id);
    });
    const auto seconds =
        std::chrono::duration<double>(last_ ? now - *last_ : Time::duration(settings_.window)).count();
    last_ = now;
    Pass pass(premises, settings_, now, seconds);
    for (const auto* active : order)
        pass.occupy(*active, standings.at(active->worker.id));
    for (const auto* active : order)
        pass.place(*active, standings.at(active->worker.id));

    standings_ = std::move(standings);
    std::vector<WorkerPlacement> placements;
    for (const auto& [id, standing] : standings_)
        placements.push_back({.id = id, .cpus = standing.cpus, .reason = standing.reason});
    return placements;
}

} // namespace teamo
