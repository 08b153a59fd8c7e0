// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/team_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace teamo {
namespace {

/// Adds what a port has on these CPUs, as its team's file of claims would have it.
void claim(std::vector<CpuClaim>& claims, const std::string& team, const PlannedPort& port,
           const std::vector<unsigned>& by_queue) {
    std::ranges::move(claims_of(team, port.name, cpu_list_of(by_queue), port.load, port.standby),
                      std::back_inserter(claims));
}

void add(std::vector<CpuClaim>& claims, const std::vector<CpuClaim>& others) {
    claims.insert(claims.end(), others.begin(), others.end());
}

/// The claims of a team on CPUs that its plan does not name.
std::vector<CpuClaim> elsewhere(const std::string& name, const TeamPlans::Team& team) {
    auto claims = team.claims;
    std::erase_if(claims, [&](const CpuClaim& claim) {
        return std::ranges::none_of(team.ports, [&](const PlannedPort& port) {
            return !port.is_new && claim.owner == fmt::format("{} {}", name, port.name) &&
                   std::ranges::count(port.now, claim.cpu) == 0;
        });
    });
    return claims;
}

/// Without what went offline after the team has looked.
CpuList eligible_now(const TeamPlans::Team& team, const CpuTopology& topology) {
    auto cpus = team.eligible;
    std::erase_if(cpus, [&topology](unsigned number) {
        const auto* cpu = topology.find(number);
        return cpu == nullptr || !cpu->online;
    });
    return cpus;
}

/// A new port has no right to the CPU of a planned one, which carries.
void give_way(std::vector<PlannedPort>& ports) {
    constexpr auto nowhere = static_cast<unsigned>(-1);
    std::set<unsigned> planned;
    for (const auto& port : ports)
        if (!port.is_new) planned.insert(port.now.begin(), port.now.end());
    for (auto& port : ports)
        if (port.is_new)
            std::ranges::replace_if(
                port.now, [&planned](unsigned cpu) { return planned.contains(cpu); }, nowhere);
}

} // namespace

std::set<std::string, std::less<>> TeamPlans::names() const {
    std::set<std::string, std::less<>> names;
    for (const auto& [name, team] : teams_)
        names.insert(name);
    return names;
}

const InterruptPlan& TeamPlans::common_plan(const CpuTopology& topology, const Team& own,
                                            const std::vector<CpuClaim>& claims) {
    std::erase_if(common_, [this](const auto& entry) {
        return std::ranges::none_of(
            teams_, [&entry](const auto& team) { return team.second.eligible == entry.first; });
    });
    if (const auto known = common_.find(own.eligible);
        known != common_.end() && known->second.topology == topology && known->second.teams == teams_ &&
        known->second.claims == claims)
        return known->second.plan;
    InterruptPlanInput input{.topology = &topology, .ports = {}, .allowed = own.eligible, .claims = claims};
    for (const auto& [name, team] : teams_) {
        const bool is_apart = eligible_now(team, topology) != own.eligible;
        add(input.claims, is_apart ? team.claims : elsewhere(name, team));
        if (is_apart) continue;
        for (const auto& port : team.ports) {
            input.ports.push_back(port);
            input.ports.back().name = fmt::format("{} {}", name, port.name);
        }
    }
    give_way(input.ports);
    auto plan = plan_interrupts(input);
    return common_
        .insert_or_assign(
            own.eligible,
            Common{.topology = topology, .teams = teams_, .claims = claims, .plan = std::move(plan)})
        .first->second.plan;
}

TeamPlans::Part TeamPlans::part_of(const std::string& name, const CpuTopology& topology,
                                   const CpuList& allowed, std::vector<CpuClaim> claims) {
    const auto& own = teams_.at(name);
    if (own.eligible.empty())
        return {.plan = plan_interrupts({.topology = &topology,
                                         .ports = own.ports,
                                         .allowed = allowed,
                                         .claims = std::move(claims)})};
    const auto& common = common_plan(topology, own, claims);
    Part part;
    auto placed = common.ports.begin();
    for (const auto& [team, wish] : teams_) {
        const bool is_apart = eligible_now(wish, topology) != own.eligible;
        if (team != name) add(claims, is_apart ? wish.claims : elsewhere(team, wish));
        if (is_apart) continue;
        for (const auto& port : wish.ports) {
            if (team == name) {
                part.plan.ports.push_back(*placed);
                part.plan.ports.back().name = port.name;
                part.plan.ports.back().moves = has_to_move(port, placed->cpus);
            } else {
                if (has_to_move(port, placed->cpus)) part.others.insert(team);
                claim(claims, team, port, placed->cpus);
            }
            ++placed;
        }
    }
    explain({.topology = &topology, .ports = own.ports, .allowed = allowed, .claims = std::move(claims)},
            own.eligible, part.plan);
    return part;
}

} // namespace teamo
