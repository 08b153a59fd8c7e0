// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/make_plan.h"

#include "base/match.h"

#include <algorithm>

namespace teamo {
namespace {

TransmitMode mode_of(const RunnerConfig& runner) {
    return std::visit(Match{[](const BroadcastRunner&) { return TransmitMode::broadcast; },
                            [](const RoundRobinRunner&) { return TransmitMode::roundrobin; },
                            [](const RandomRunner&) { return TransmitMode::random; },
                            [](const auto&) { return TransmitMode::hash; }},
                      runner);
}

HashFields hash_fields_of(const RunnerConfig& runner) {
    return std::visit(Match{[](const LoadBalanceRunner& balance) { return balance.tx_hash; },
                            [](const LacpRunner& lacp) { return lacp.tx_hash; },
                            [](const auto&) { return HashFields{0}; }},
                      runner);
}

HwaddrPolicy policy_of(const RunnerConfig& runner) {
    const auto* backup = std::get_if<ActiveBackupRunner>(&runner);
    return backup == nullptr ? HwaddrPolicy::same_all : backup->hwaddr_policy;
}

SlotSet slots_of(const std::vector<Member>& members, const std::vector<IfIndex>& which) {
    SlotSet slots = 0;
    for (const auto& member : members)
        if (std::ranges::find(which, member.index) != which.end()) slots |= bit(member.slot);
    return slots;
}

/// by_active: the team has the address of the port that carries; while none does it keeps the last.
MacAddress team_address(const Premises& premises, const Decision& decision) {
    if (policy_of(*premises.runner) == HwaddrPolicy::by_active && decision.active)
        for (const auto& member : premises.members)
            if (member.index == *decision.active) return member.own_address;
    return premises.team->address;
}

MacAddress port_address(const Member& member, const MacAddress& team, HwaddrPolicy policy,
                        const Decision& decision) {
    switch (policy) {
    case HwaddrPolicy::same_all: return team;
    case HwaddrPolicy::by_active: return member.own_address;
    case HwaddrPolicy::only_active: return decision.active == member.index ? team : member.own_address;
    }
    return team;
}

/// Addresses and tags could be given to each card one by one (RTM_NEWNEIGH with NTF_SELF; a hidden VLAN
/// device on the port), and would then have to be counted, kept and taken back beside others' own. A port in
/// promiscuous mode hears besides what its switch floods, which the team's device drops by its address.
bool hears_everything(const Premises& premises, const Member& member) {
    // Cards whose VLAN filter cannot be switched off open it in promiscuous mode (e1000e, igb, virtio-net).
    return premises.team->promiscuity > 0 || premises.other_addresses ||
           (premises.tags && member.filters_tags);
}

} // namespace

TeamPlan make_plan(const Premises& premises, const Decision& decision) {
    SlotSet members = 0;
    for (const auto& member : premises.members)
        members |= bit(member.slot);

    TeamPlan plan;
    plan.address = team_address(premises, decision);
    plan.carrier = !decision.transmit.empty();
    plan.homes = rehome(premises.homes, members);
    plan.tables.mode = mode_of(*premises.runner);
    plan.tables.hash_fields = hash_fields_of(*premises.runner);
    plan.tables.team = premises.team->index;
    plan.tables.inner = premises.inner;
    plan.tables.transmit = slots_of(premises.members, decision.transmit);
    plan.tables.receive = slots_of(premises.members, decision.receive);
    plan.tables.buckets = preferences(plan.homes, members);
    for (const auto& member : premises.members) {
        plan.tables.ports[member.slot.value] = member.index;
        plan.ports.push_back(
            {.index = member.index,
             .address = port_address(member, plan.address, policy_of(*premises.runner), decision),
             .mtu = premises.team->mtu,
             .promiscuous = hears_everything(premises, member),
             .all_multicast = true});
    }
    return plan;
}

} // namespace teamo
