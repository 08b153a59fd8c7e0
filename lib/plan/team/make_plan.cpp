// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/make_plan.h"

#include "base/match.h"

#include <fmt/format.h>
#include <linux/if.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

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
    const bool is_active = policy == HwaddrPolicy::only_active && decision.active == member.index;
    return policy == HwaddrPolicy::same_all || is_active ? team : member.own_address;
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
    auto limits = input.team->gso_max;
    if (input.members.empty()) return limits; // no ports to follow
    const bool any = std::ranges::any_of(input.members, &Member::segments);
    for (const auto field : {&SegmentLimits::size, &SegmentLimits::segs, &SegmentLimits::ipv4_size}) {
        auto least = input.team->tso_max.*field;
        for (const auto& member : input.members)
            if (const auto own = member.gso_max.*field; (member.segments || !any) && own != 0)
                least = least == 0 ? own : std::min(least, own);
        limits.*field = limit(limits.*field, least, input.limited_to.*field, legacy_limits.*field);
    }
    return limits;
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

/// Ports that stand by count, because they can carry, but none that is drained. Without any LACP partner
/// there is no aggregate.
bool has_carrier(const Decision& decision, const std::vector<Member>& members, std::size_t min_ports) {
    if (decision.transmit.empty()) return false;
    const auto is_ready = [&members](IfIndex port) {
        const auto member = std::ranges::find(members, port, &Member::index);
        return member != members.end() && !member->drained;
    };
    const auto ready = static_cast<std::size_t>(std::ranges::count_if(decision.standby, is_ready));
    return decision.falls_back || decision.transmit.size() + ready >= min_ports;
}

constexpr std::array<std::string_view, 2> tag_filters{"rx-vlan-filter", "rx-vlan-stag-filter"};

} // namespace

TeamPlan make_plan(const PlanInput& input, const Decision& decision) {
    SlotSet members = 0, drained = 0;
    Weights weights = equal_weights;
    for (const auto& member : input.members) {
        members |= bit(member.slot);
        weights[member.slot.value] = member.weight;
        if (member.drained) drained |= bit(member.slot);
    }

    TeamPlan plan;
    plan.drained = drained == members ? SlotSet{0} : drained;
    plan.address = team_address(input, decision);
    plan.carrier = has_carrier(decision, input.members, input.min_ports);
    plan.sets_carrier = input.sets_carrier;
    plan.carrier_set = input.carrier_set;
    plan.kernel_manages_ports = input.kernel_manages_ports;
    plan.is_guest = input.is_guest;
    plan.gso_max = team_limits(input);
    plan.owners = settle(input.owners, input.known, members & ~plan.drained, input.measured, weights);
    plan.tables = input.tables;
    plan.tables.mode = mode_of(*input.runner);
    plan.tables.hash_fields = hash_fields_of(*input.runner);
    plan.tables.team = input.team->index;
    plan.tables.transmit = slots_of(input.members, decision.transmit);
    plan.tables.receive = slots_of(input.members, decision.receive);
    plan.tables.standby = standby_slots(input, decision);
    plan.tables.buckets = preferences(plan.owners, members & ~plan.drained, weights, plan.drained);
    const bool by_cpu = has(plan.tables.hash_fields, HashField::cpu);
    if (!by_cpu) plan.tables.cpu_slots.clear();
    for (const auto& member : input.members) {
        auto& drain = plan.tables.drain[member.slot.value];
        if (by_cpu) drain = std::max(drain, least_drain_by_flow);
        plan.tables.ports[member.slot.value] = member.index;
        plan.tables.settings[member.slot.value] = member.settings;
        if (member.waits) {
            plan.tables.waits |= bit(member.slot);
            plan.tables.carrier_losses[member.slot.value] = member.carrier_losses;
        }
        plan.ports.push_back(
            {.index = member.index,
             .slot = member.slot,
             .address = port_address(member, plan.address, policy_of(*input.runner), decision),
             .mtu = input.team->mtu,
             .promiscuous = needs_promiscuous(input, member),
             .to_set_up = member.to_set_up});
    }
    return plan;
}

std::string text_of(const Change& change) {
    return std::visit(
        Match{[](const SetAddress& set) { return fmt::format("address {}", text_of(set.to)); },
              [](const SetMtu& set) { return fmt::format("MTU {}", set.to); },
              [](const SetSegmentLimits& set) {
                  return fmt::format("segmentation limits {} bytes, {} segments", set.to.size, set.to.segs);
              },
              [](const SetCarrier& set) { return fmt::format("carrier {}", set.to ? "on" : "off"); },
              [](const DisableIpv6&) { return std::string("IPv6 off"); },
              [](const SetFlags& set) {
                  std::string text;
                  for (const auto& [flag, name] : {std::pair{IFF_UP, "up"},
                                                   {IFF_PROMISC, "promiscuous"},
                                                   {IFF_ALLMULTI, "all multicast"}})
                      if ((set.mask & static_cast<std::uint32_t>(flag)) != 0)
                          text +=
                              fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                                          (set.flags & static_cast<std::uint32_t>(flag)) != 0 ? "on" : "off");
                  return text;
              }},
        change);
}

std::vector<Change> changes(const Links& links, const TeamPlan& plan) {
    std::vector<Change> list;
    if (plan.is_guest) return list;
    for (const auto& port : plan.ports) {
        const auto* link = find_link(links, port.index);
        if (link == nullptr) continue;
        if (link->ipv6) list.push_back(DisableIpv6{port.index});
        if (link->mtu != port.mtu) list.push_back(SetMtu{port.index, port.mtu});
        if (!plan.kernel_manages_ports) {
            // A card drops groups that are not in its list.
            constexpr std::uint32_t mask = IFF_PROMISC | IFF_ALLMULTI;
            const std::uint32_t flags = port.promiscuous ? mask : std::uint32_t{IFF_ALLMULTI};
            if ((link->flags & mask) != flags) list.push_back(SetFlags{port.index, flags, mask});
        }
        if (link->address != port.address) list.push_back(SetAddress{port.index, port.address});
        if (port.to_set_up && !link->is_up()) list.push_back(SetFlags{port.index, IFF_UP, IFF_UP});
    }
    if (const auto* team = find_link(links, plan.tables.team)) {
        if (team->address != plan.address) list.push_back(SetAddress{team->index, plan.address});
        // The flags show the carrier only while the team is up. RUNNING is linkwatch's, which follows later.
        const bool carrier =
            team->is_up() ? (team->flags & IFF_LOWER_UP) != 0 : plan.carrier_set.value_or(!plan.carrier);
        if (plan.sets_carrier && carrier != plan.carrier)
            list.push_back(SetCarrier{team->index, plan.carrier});
        if (team->gso_max != plan.gso_max) list.push_back(SetSegmentLimits{team->index, plan.gso_max});
    }
    const auto* inner = find_link(links, plan.tables.inner);
    if (inner == nullptr) return list;
    if (inner->ipv6) list.push_back(DisableIpv6{inner->index});
    if (inner->mtu != inner_mtu) list.push_back(SetMtu{inner->index, inner_mtu});
    // The team has a carrier while the inner end is up (veth_open, veth_close; netkit too).
    if (inner->is_up() != plan.carrier)
        list.push_back(SetFlags{inner->index, plan.carrier ? std::uint32_t{IFF_UP} : 0U, IFF_UP});
    return list;
}

bool takes_tags(const Links& links, const Link& team, const std::set<IfIndex>& above) {
    if (team.master) {
        const auto* master = find_link(links, team.master);
        return master == nullptr || master->kind != "vrf"; // a VRF works on layer 3
    }
    return std::ranges::any_of(above, [&links](IfIndex device) {
        const auto* link = find_link(links, device);
        return link != nullptr && link->kind == "vlan";
    });
}

bool takes_other_addresses(const std::vector<MacAddress>& unicast_list, const Link& team) {
    return std::ranges::any_of(unicast_list, [&](const auto& address) { return address != team.address; });
}

FeatureSettings unwanted(const Features& features) {
    FeatureSettings settings;
    for (const auto name : tag_filters)
        if (features.active.contains(name) && features.changeable.contains(name))
            settings.emplace(name, false);
    return settings;
}

bool filters_tags(const Features& features) {
    return std::ranges::any_of(tag_filters, [&](auto name) { return features.active.contains(name); });
}

} // namespace teamo
