// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace teamo {
namespace {

using Users = std::map<unsigned, std::vector<std::string>>; ///< by CPU

const std::vector<std::string>& users_of(const Users& by_cpu, unsigned cpu) {
    static const std::vector<std::string> none;
    const auto found = by_cpu.find(cpu);
    return found == by_cpu.end() ? none : found->second;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t index = 0; index < names.size(); ++index)
        text += (index == 0 ? "" : index + 1 == names.size() ? " and " : ", ") + names[index];
    return text;
}

class Explanation {
public:
    Explanation(const InterruptPlanInput& input, const CpuList& eligible, const InterruptPlan& plan)
        : input_(input), topology_(*input.topology), eligible_(eligible) {
        for (const auto& port : plan.ports)
            for (const auto cpu : cpu_list_of(port.cpus))
                ports_[cpu].push_back(port.name);
        for (const auto& claim : input.claims)
            claims_[claim.cpu].push_back(claim.owner);
    }

    /// Ports, then claims, other than `name` that use a CPU of `cpus`.
    std::vector<std::string> sharers(const CpuList& cpus, const std::string& name) const {
        std::vector<std::string> all;
        for (const auto* by_cpu : {&ports_, &claims_}) {
            std::set<std::string> names;
            for (const auto cpu : cpus)
                names.insert(users_of(*by_cpu, cpu).begin(), users_of(*by_cpu, cpu).end());
            if (by_cpu == &ports_) names.erase(name);
            all.insert(all.end(), names.begin(), names.end());
        }
        return all;
    }

    /// "stays on CPU 3: on its NUMA node 0, a core of its own".
    std::string reason(const PlannedPort& port, const PlacedPort& placed) const {
        if (placed.cpus.empty()) return "no CPU may serve interrupts";
        const auto cpus = cpu_list_of(placed.cpus);
        bool all_fixed = true;
        for (std::size_t queue = 0; queue < port.queues; ++queue)
            all_fixed = all_fixed && port.fixed_cpu(queue);
        auto text = (cpus.size() == 1 ? "CPU " : "CPUs ") + text_of(cpus);
        if (all_fixed)
            text = "the kernel keeps it on " + text;
        else if (!port.now.empty() && !placed.moves)
            text = "stays on " + text;
        if (!placed.shares_with.empty())
            return fmt::format("{}, shared with {}: {} for {}{}", text, joined(placed.shares_with),
                               counted(eligible_.size(), "CPU"), counted(input_.ports.size(), "port"),
                               claims_.empty() ? "" : " and other teams");
        std::string why;
        for (const auto& part : {of_node(port, cpus), of_cores(port, cpus), of_speed(cpus)})
            if (!part.empty()) why += (why.empty() ? "" : ", ") + part;
        return text + ": " + why;
    }

    /// "8 ports, 4 CPUs: 2 ports share each CPU"; empty: no port shares a CPU.
    std::string degraded(const std::vector<PlacedPort>& placed) const {
        if (placed.empty()) return {};
        if (std::ranges::any_of(placed, [](const PlacedPort& port) { return port.cpus.empty(); }))
            return "no CPU may serve interrupts: " +
                   (input_.allowed.empty() ? "all are isolated, or not in /proc/irq/default_smp_affinity"
                                           : fmt::format("none of {} is online", text_of(input_.allowed)));
        if (std::ranges::all_of(placed, [](const PlacedPort& port) { return port.shares_with.empty(); }))
            return {};
        std::set<std::string> others;
        for (const auto& [cpu, names] : claims_)
            others.insert(names.begin(), names.end());
        std::set<std::size_t> counts;
        for (const auto cpu : eligible_)
            counts.insert(users_of(ports_, cpu).size() + users_of(claims_, cpu).size());
        auto text = counted(placed.size(), "port");
        if (!others.empty()) text += fmt::format(" and {} of other teams", others.size());
        text += fmt::format(", {}: ", counted(eligible_.size(), "CPU"));
        if (const auto sharing = kept_together(); !sharing.empty())
            return text + fmt::format("the kernel keeps {} on shared CPUs", joined(sharing));
        const auto most = counted(counts.empty() ? 0 : *counts.rbegin(), "port");
        return text + (counts.size() == 1 ? most + " share each CPU" : "up to " + most + " share a CPU");
    }

private:
    /// "on its NUMA node 0", "not on its NUMA node 0".
    std::string of_node(const PlannedPort& port, const CpuList& cpus) const {
        const auto& all = topology_.cpus;
        const bool one_node =
            std::ranges::adjacent_find(all, std::ranges::not_equal_to{}, &Cpu::node) == all.end();
        if (port.node < 0 || one_node) return {};
        const bool all_local = std::ranges::all_of(cpus, [&](unsigned number) {
            const auto* cpu = topology_.find(number);
            return cpu != nullptr && cpu->node == static_cast<unsigned>(port.node);
        });
        return fmt::format("{}on its NUMA node {}", all_local ? "" : "not ", port.node);
    }

    /// "a core of its own", "shares its core with eth3".
    std::string of_cores(const PlannedPort& port, const CpuList& cpus) const {
        std::set<unsigned> cores;
        for (const auto number : cpus)
            if (const auto* cpu = topology_.find(number)) cores.insert(cpu->core);
        CpuList others;
        for (const auto& cpu : topology_.cpus)
            if (cores.contains(cpu.core) && !contains(cpus, cpu.number)) others.push_back(cpu.number);
        const auto core_sharers = sharers(others, port.name);
        if (!core_sharers.empty())
            return (cores.size() == 1 ? "shares its core with " : "shares cores with ") +
                   joined(core_sharers);
        if (others.empty() && cores.size() == cpus.size()) return "not shared";
        return cores.size() == 1 ? "a core of its own" : "cores of its own";
    }

    std::string of_speed(const CpuList& cpus) const {
        const bool slow = std::ranges::any_of(cpus, [&](unsigned number) {
            const auto* cpu = topology_.find(number);
            return cpu != nullptr && cpu->capacity < 1024;
        });
        if (!slow) return {};
        return cpus.size() == 1 ? "a slower CPU" : "some are slower CPUs";
    }

    /// Ports and claims on shared CPUs; empty if the kernel does not keep each of these ports there.
    std::vector<std::string> kept_together() const {
        std::set<std::string> sharing;
        for (const auto& [cpu, names] : ports_) {
            const auto& others = users_of(claims_, cpu);
            if (names.size() + others.size() < 2) continue;
            for (const auto& port : input_.ports)
                if (std::ranges::count(names, port.name) > 0 && !std::ranges::count(port.fixed, cpu))
                    return {};
            sharing.insert(names.begin(), names.end());
            sharing.insert(others.begin(), others.end());
        }
        return {sharing.begin(), sharing.end()};
    }

    const InterruptPlanInput& input_;
    const CpuTopology& topology_;
    const CpuList& eligible_;
    Users ports_, claims_; ///< of this team; of other teams
};

} // namespace

void explain(const InterruptPlanInput& input, const CpuList& eligible, InterruptPlan& plan) {
    const Explanation explanation(input, eligible, plan);
    for (std::size_t index = 0; index < plan.ports.size(); ++index) {
        auto& port = plan.ports[index];
        port.shares_with = explanation.sharers(cpu_list_of(port.cpus), port.name);
        port.reason = explanation.reason(input.ports[index], port);
    }
    plan.degraded = explanation.degraded(plan.ports);
}

} // namespace teamo
