// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/placement_reason.h"

#include "plan/interrupts/queue_cpus.h"

#include <algorithm>

namespace teamo {
namespace {

const std::vector<std::string>& users_of(const std::map<unsigned, std::vector<std::string>>& by_cpu,
                                         unsigned cpu) {
    static const std::vector<std::string> none;
    const auto found = by_cpu.find(cpu);
    return found == by_cpu.end() ? none : found->second;
}

std::string counted(std::size_t count, const std::string& noun) {
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t index = 0; index < names.size(); ++index)
        text += (index == 0 ? "" : index + 1 == names.size() ? " and " : ", ") + names[index];
    return text;
}

bool has_several_nodes(const CpuTopology& topology) {
    return std::ranges::adjacent_find(topology.cpus, std::ranges::not_equal_to{}, &Cpu::node) !=
           topology.cpus.end();
}

/// "on its NUMA node 0", "not on its NUMA node 0".
std::string of_node(const CpuTopology& topology, const PlannedPort& port, const CpuList& cpus) {
    if (port.node < 0 || !has_several_nodes(topology)) return {};
    const bool all_local = std::ranges::all_of(cpus, [&](unsigned number) {
        const auto* cpu = topology.find(number);
        return cpu != nullptr && cpu->node == static_cast<unsigned>(port.node);
    });
    return (all_local ? "on its NUMA node " : "not on its NUMA node ") + std::to_string(port.node);
}

/// "a core of its own", "shares its core with eth3".
std::string of_cores(const CpuTopology& topology, const Occupancy& occupancy, const PlannedPort& port,
                     const CpuList& cpus) {
    std::set<unsigned> cores;
    for (const auto number : cpus)
        if (const auto* cpu = topology.find(number)) cores.insert(cpu->core);
    CpuList others;
    for (const auto& cpu : topology.cpus)
        if (cores.contains(cpu.core) && !std::ranges::binary_search(cpus, cpu.number))
            others.push_back(cpu.number);
    const auto core_sharers = sharers(occupancy, others, port.name);
    if (!core_sharers.empty())
        return (cores.size() == 1 ? "shares its core with " : "shares cores with ") + joined(core_sharers);
    if (others.empty() && cores.size() == cpus.size()) return "not shared";
    return cores.size() == 1 ? "a core of its own" : "cores of its own";
}

std::string of_speed(const CpuTopology& topology, const CpuList& cpus) {
    const bool slow = std::ranges::any_of(cpus, [&](unsigned number) {
        const auto* cpu = topology.find(number);
        return cpu != nullptr && cpu->capacity < 1024;
    });
    if (!slow) return {};
    return cpus.size() == 1 ? "a slower CPU" : "some are slower CPUs";
}

bool is_kept_on(const PlannedPort& port, unsigned cpu) {
    for (std::size_t queue = 0; queue < port.queues; ++queue)
        if (fixed_cpu(port, queue) == cpu) return true;
    return false;
}

/// Ports and claims that share a CPU because the kernel keeps the ports there; empty if any port shares for
/// another reason.
std::vector<std::string> kept_together(const InterruptPlanInput& input, const Occupancy& occupancy) {
    std::set<std::string> sharing;
    for (const auto& [cpu, names] : occupancy.ports) {
        const auto& others = users_of(occupancy.claims, cpu);
        if (names.size() + others.size() < 2) continue;
        for (const auto& port : input.ports)
            if (std::ranges::find(names, port.name) != names.end() && !is_kept_on(port, cpu)) return {};
        sharing.insert(names.begin(), names.end());
        sharing.insert(others.begin(), others.end());
    }
    return {sharing.begin(), sharing.end()};
}

} // namespace

std::vector<std::string> sharers(const Occupancy& occupancy, const CpuList& cpus, const std::string& name) {
    std::vector<std::string> all;
    for (const auto* by_cpu : {&occupancy.ports, &occupancy.claims}) {
        std::set<std::string> names;
        for (const auto cpu : cpus)
            names.insert(users_of(*by_cpu, cpu).begin(), users_of(*by_cpu, cpu).end());
        if (by_cpu == &occupancy.ports) names.erase(name);
        all.insert(all.end(), names.begin(), names.end());
    }
    return all;
}

std::string placement_reason(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const PlannedPort& port, const PlacedPort& placed) {
    if (placed.cpus.empty()) return "no CPU may serve interrupts";
    const auto cpus = cpu_list_of(placed.cpus);
    bool all_fixed = true;
    for (std::size_t queue = 0; queue < port.queues; ++queue)
        all_fixed = all_fixed && fixed_cpu(port, queue);
    const auto noun = (cpus.size() == 1 ? "CPU " : "CPUs ") + text_of(cpus);
    std::string text = noun;
    if (all_fixed)
        text = "the kernel keeps it on " + noun;
    else if (!port.now.empty() && !placed.moves)
        text = "stays on " + noun;
    if (!placed.shares_with.empty())
        return text + ", shared with " + joined(placed.shares_with) + ": " + counted(eligible.size(), "CPU") +
               " for " + counted(input.ports.size(), "port") +
               (occupancy.claims.empty() ? "" : " and other teams");
    std::string why;
    for (const auto& part :
         {of_node(*input.topology, port, cpus), of_cores(*input.topology, occupancy, port, cpus),
          of_speed(*input.topology, cpus)})
        if (!part.empty()) why += (why.empty() ? "" : ", ") + part;
    return text + ": " + why;
}

std::string degraded_because(const InterruptPlanInput& input, const CpuList& eligible,
                             const Occupancy& occupancy, const std::vector<PlacedPort>& placed) {
    if (input.ports.empty()) return {};
    if (std::ranges::any_of(placed, [](const PlacedPort& port) { return port.cpus.empty(); }))
        return "no CPU may serve interrupts: " + (input.allowed.empty()
                                                      ? std::string("all are isolated")
                                                      : "none of " + text_of(input.allowed) + " is online");
    if (std::ranges::all_of(placed, [](const PlacedPort& port) { return port.shares_with.empty(); }))
        return {};
    std::set<std::string> others;
    for (const auto& [cpu, names] : occupancy.claims)
        others.insert(names.begin(), names.end());
    std::size_t fewest = static_cast<std::size_t>(-1), most = 0;
    for (const auto cpu : eligible) {
        const auto count = users_of(occupancy.ports, cpu).size() + users_of(occupancy.claims, cpu).size();
        fewest = std::min(fewest, count);
        most = std::max(most, count);
    }
    auto text = counted(input.ports.size(), "port");
    if (!others.empty()) text += " and " + std::to_string(others.size()) + " of other teams";
    text += ", " + counted(eligible.size(), "CPU") + ": ";
    if (const auto sharing = kept_together(input, occupancy); !sharing.empty())
        return text + "the kernel keeps " + joined(sharing) + " on shared CPUs";
    return text + (fewest == most ? counted(most, "port") + " share each CPU"
                                  : "up to " + counted(most, "port") + " share a CPU");
}

} // namespace teamo
