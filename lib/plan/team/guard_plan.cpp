// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/guard_plan.h"

#include <fmt/format.h>
#include <linux/if.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

/// Far above what a network needs, far below what a host can bear.
constexpr std::uint32_t rate_of_all = 10'000, rate_of_a_sender = 1'000; // frames per second

/// Their packets have the addresses of this host on the outside.
constexpr auto tunnels =
    std::to_array<std::string_view>({"vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "erspan",
                                     "ip6erspan", "ipip", "sit", "ip6tnl", "vti", "vti6", "xfrm"});

/// A port of a VRF keeps its addresses; a port of anything else carries frames of others.
bool carries_for_others(const Links& links, const Link& device) {
    if (!device.master) return false;
    const auto* master = find_link(links, device.master);
    return master == nullptr || master->kind != "vrf";
}

/// A pair device has no list of addresses of its own and becomes promiscuous for the first one
/// (net/core/dev.c:
/// __dev_set_rx_mode).
bool is_promiscuous(const Link& team, const GuardSight& sight) {
    const bool pair = team.kind == "veth" || team.kind == "netkit";
    const bool by_list = pair && std::ranges::any_of(sight.hardware, [](const MacAddress& address) {
                             return !address.is_multicast();
                         });
    return team.promiscuity > (by_list ? 1U : 0U);
}

std::string reason_to_step_aside(const Links& links, const Link& team,
                                 const std::vector<const Link*>& devices, const std::set<IfIndex>& ports,
                                 const GuardSight& sight) {
    if (!sight.failure.empty()) return sight.failure;
    for (const auto* device : devices) {
        if (ports.contains(device->index)) continue;
        if (carries_for_others(links, *device)) {
            const auto* master = find_link(links, device->master);
            return fmt::format("{} is a port of {}", device->name,
                               master == nullptr ? "another device" : master->name);
        }
        if (device->index != team.index && device->kind != "vlan" && device->kind != "macvlan" &&
            std::ranges::find(tunnels, device->kind) == tunnels.end())
            return fmt::format("{} of kind {} is on the team", device->name, device->kind);
    }
    if (is_promiscuous(team, sight)) return "the team is promiscuous: a program reads all frames";
    if ((team.flags & IFF_ALLMULTI) != 0) return "the team accepts all groups: a program routes multicasts";
    for (const auto& address : sight.hardware)
        if (!address.is_multicast() && std::ranges::none_of(devices, [&address](const Link* device) {
                return device->address == address;
            }))
            return fmt::format("the team accepts {}, which no device of this namespace has",
                               text_of(address));
    if (sight.proxies) return "the host answers for other hosts (proxy_arp, proxy_ndp)";
    if (sight.local_network)
        return fmt::format("the host answers for a whole network ({})", text_of(*sight.local_network));
    return {};
}

} // namespace

std::vector<const Link*> guarded_devices(const Links& links, IfIndex team, const std::set<IfIndex>& ports) {
    std::vector<const Link*> devices;
    const auto* device = find_link(links, team);
    if (device == nullptr) return devices;
    for (const auto& [index, link] : links)
        if (index == team || ports.contains(index) || stands_on(links, link, *device))
            devices.push_back(&link);
    return devices;
}

GuardPlan plan_guard(GuardMode mode, const Links& links, IfIndex team, const std::set<IfIndex>& ports,
                     const GuardSight& sight, std::size_t limit) {
    const auto* device = find_link(links, team);
    if (mode == GuardMode::off || device == nullptr) return {};
    const auto devices = guarded_devices(links, team, ports);
    GuardPlan plan{.tables = {.mode = mode, .rate = rate_of_all, .rate_by_sender = rate_of_a_sender},
                   .aside = reason_to_step_aside(links, *device, devices, ports, sight)};
    plan.tables.addresses = sight.addresses;
    plan.tables.macs.insert(sight.hardware.begin(), sight.hardware.end());
    for (const auto* one : devices) {
        plan.tables.macs.insert(one->address);
        if (one->vlan != 0) plan.tables.vlans.insert(one->vlan);
    }
    if (plan.aside.empty() && std::max(plan.tables.addresses.size(), plan.tables.macs.size()) > limit)
        plan.aside = fmt::format("there are more than {} addresses", limit);
    if (!plan.aside.empty()) plan.tables = {};
    return plan;
}

} // namespace teamo
