// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/make_plan.h"

#include "base/match.h"

#include <algorithm>

namespace teamo {
namespace {

TransmitMode mode_of(const RunnerConfig& runner) {
    return std::visit(Match{[](const BroadcastRunner&) { return TransmitMode::broadcast; },
                            [](const RoundRobinRunner&) { return TransmitMode::roundrobin; },
                            [](const RandomRunner&) { return TransmitMode::random; },
                            [](const ActiveBackupRunner&) { return TransmitMode::activebackup; },
                            [](const auto&) { return TransmitMode::hash; }},
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

/// The standby slots in order. With other policies than same_all a port receives frames for the team only
/// after the daemon has set its address, so it cannot take over before that.
Preference standby_slots(const PlanInput& input, const Decision& decision) {
    Preference slots{};
    if (policy_of(*input.runner) != HwaddrPolicy::same_all) return slots;
    std::size_t count = 0;
    for (const auto& port : decision.standby)
        for (const auto& member : input.members)
            if (member.index == port && count < slots.size()) slots[count++] = member.slot;
    return slots;
}

/// by_active: the team has the address of the active port; without one it keeps its address.
MacAddress team_address(const PlanInput& input, const Decision& decision) {
    if (policy_of(*input.runner) == HwaddrPolicy::by_active && decision.active)
        for (const auto& member : input.members)
            if (member.index == *decision.active) return member.own_address;
    return input.team->address;
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

constexpr SegmentLimits legacy_limits{65536, 65535, 65536}; // GSO_LEGACY_MAX_SIZE, GSO_MAX_SEGS

/// A limit follows the smallest port's, upwards too, because BIG TCP needs limits above the usual ones. If
/// the administrator lowered the team's own limit, it stays.
std::uint32_t limit(std::uint32_t now, std::uint32_t least, std::uint32_t set, std::uint32_t usual) {
    if (now == 0 || least == 0) return now;
    if (now > least) return least;
    return now == set || now == usual ? least : now;
}

SegmentLimits team_limits(const PlanInput& input) {
    SegmentLimits least = input.team->tso_max;
    const auto lower = [](std::uint32_t& limit, std::uint32_t by) {
        if (by != 0 && (limit == 0 || by < limit)) limit = by;
    };
    const bool any = std::ranges::any_of(input.members, &Member::segments);
    bool limited = false;
    for (const auto& member : input.members) {
        if (any && !member.segments) continue;
        lower(least.size, member.gso_max.size);
        lower(least.segs, member.gso_max.segs);
        lower(least.ipv4_size, member.gso_max.ipv4_size);
        limited = true;
    }
    if (!limited) return input.team->gso_max; // no ports to follow
    const auto& now = input.team->gso_max;
    const auto& set = input.limited_to;
    return {limit(now.size, least.size, set.size, legacy_limits.size),
            limit(now.segs, least.segs, set.segs, legacy_limits.segs),
            limit(now.ipv4_size, least.ipv4_size, set.ipv4_size, legacy_limits.ipv4_size)};
}

/// With hash "cpu" each flow waits for its own gap, and the queues are polled only now and then, less
/// often than while buckets move. In between a queue may build up: one of 2.5 MB at 1 Gbit/s drains in 20 ms.
/// A longer wait than necessary only costs cache locality.
constexpr std::chrono::nanoseconds least_drain_by_flow = std::chrono::milliseconds(20);

/// The alternative, to add each address and tag to each card (RTM_NEWNEIGH with NTF_SELF; a hidden VLAN
/// device on the port), would need reference counts beside those of other programs. A promiscuous port
/// additionally receives what its switch floods; the team's device drops that by its address.
bool needs_promiscuous(const PlanInput& input, const Member& member) {
    // Promiscuous mode opens VLAN filters that cannot be switched off (e1000e, igb, virtio-net).
    return input.team->promiscuity > 0 || input.other_addresses || (input.tags && member.filters_tags);
}

} // namespace

TeamPlan make_plan(const PlanInput& input, const Decision& decision) {
    SlotSet members = 0;
    for (const auto& member : input.members)
        members |= bit(member.slot);

    TeamPlan plan;
    plan.address = team_address(input, decision);
    plan.carrier = !decision.transmit.empty();
    plan.gso_max = team_limits(input);
    plan.owners = settle(input.owners, input.known, members, input.measured);
    plan.tables.mode = mode_of(*input.runner);
    plan.tables.hash_fields = hash_fields_of(*input.runner);
    plan.tables.team = input.team->index;
    plan.tables.inner = input.inner;
    plan.tables.transmit = slots_of(input.members, decision.transmit);
    plan.tables.receive = slots_of(input.members, decision.receive);
    plan.tables.standby = standby_slots(input, decision);
    plan.tables.buckets = preferences(plan.owners, members);
    plan.tables.leaving = input.leaving;
    plan.tables.drain = input.drain;
    if (has(plan.tables.hash_fields, HashField::cpu)) {
        plan.tables.cpu_slots = input.cpu_slots;
        for (const auto& member : input.members)
            if (auto& drain = plan.tables.drain[member.slot.value]; drain < least_drain_by_flow)
                drain = least_drain_by_flow;
    }
    plan.tables.notify_peers = input.notify_peers;
    plan.tables.mcast_rejoin = input.mcast_rejoin;
    for (const auto& member : input.members) {
        plan.tables.ports[member.slot.value] = member.index;
        plan.tables.settings[member.slot.value] = member.settings;
        if (member.waits) {
            plan.tables.waits |= bit(member.slot);
            plan.tables.carrier_losses[member.slot.value] = member.carrier_losses;
        }
        plan.ports.push_back(
            {.index = member.index,
             .address = port_address(member, plan.address, policy_of(*input.runner), decision),
             .mtu = input.team->mtu,
             .promiscuous = needs_promiscuous(input, member),
             .all_multicast = true,
             .kernel_manages_ports = input.kernel_manages_ports,
             .to_set_up = member.to_set_up});
    }
    return plan;
}

} // namespace teamo
