// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/membership.h"

#include <linux/if.h>
#include <linux/if_arp.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace teamo {
namespace {

/// The devices directly below: a VLAN's device, the ports of a bridge. The other end of a pair is not below
/// it.
std::vector<const Link*> lowers_of(const Links& links, const Link& device) {
    constexpr std::array<std::string_view, 10> without_ports{"",       "vlan", "macvlan", "macvtap", "ipvlan",
                                                             "ipvtap", "veth", "netkit",  "tun",     "dummy"};
    std::vector<const Link*> lowers;
    const bool pair = device.kind == "veth" || device.kind == "netkit";
    if (!pair && !device.lower_elsewhere)
        if (const auto* lower = find_link(links, device.lower)) lowers.push_back(lower);
    if (std::ranges::find(without_ports, device.kind) != without_ports.end()) return lowers;
    for (const auto& [index, link] : links)
        if (link.master == device.index) lowers.push_back(&link);
    return lowers;
}

/// As stands_on(), but a master stands on its ports too.
bool is_above(const Links& links, const Link& device, const Link& below) {
    std::vector<const Link*> to_visit{&device};
    std::set<IfIndex> visited{device.index};
    while (!to_visit.empty()) {
        const auto* step = to_visit.back();
        to_visit.pop_back();
        for (const auto* lower : lowers_of(links, *step)) {
            if (lower->index == below.index) return true;
            if (visited.insert(lower->index).second) to_visit.push_back(lower);
        }
    }
    return false;
}

} // namespace

std::vector<const Link*> users_among(std::vector<const Link*> on_it, Takes takes) {
    // Devices that take the frames by the device's rx_handler, which has room for one user.
    constexpr std::array<std::string_view, 6> kinds{"macvlan", "macvtap", "ipvlan",
                                                    "ipvtap",  "macsec",  "dsa"};
    std::erase_if(on_it, [&](const Link* link) {
        return std::ranges::find(kinds, link->kind) == kinds.end() &&
               (takes == Takes::untagged || link->kind != "vlan");
    });
    return on_it;
}

std::vector<const Link*> users_of(const Links& links, const Link& device, Takes takes) {
    std::vector<const Link*> on_it;
    for (const auto& [index, link] : links)
        if (link.lower == device.index && !link.lower_elsewhere) on_it.push_back(&link);
    return users_among(std::move(on_it), takes);
}

std::string text_of(const std::vector<const Link*>& users) {
    std::string text;
    for (const auto* user : users)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", user->name, user->kind);
    return text;
}

Result<> may_join(const Links& links, const Link& device, std::string_view team, Takes takes) {
    if (device.type != ARPHRD_ETHER || (device.flags & IFF_LOOPBACK) != 0)
        return fail(EINVAL, "is not an Ethernet device; only Ethernet devices can be ports");
    if (device.kind == "team" || device.kind == "bond")
        return fail(EINVAL, fmt::format("is itself an aggregate ({}); add its ports instead", device.kind));
    if (const auto owner = team_of_device(device))
        return fail(EINVAL,
                    fmt::format("is itself an aggregate (of team {}); add its ports instead", *owner));
    if (const auto mark = port_mark_of(device); mark && mark->team != team)
        return fail(
            EEXIST,
            fmt::format("is a port of team {0} already; release it first: teamoctl {0} port remove {1}, "
                        "or, if that team is gone: ip link property del dev {1} altname {2}",
                        mark->team, device.name, port_mark(mark->team, mark->slot)));
    const auto* master = find_link(links, device.master);
    // Another program made it a port of this team already (slaves of the team and bonding drivers).
    if (master != nullptr && (master->kind == "team" || master->kind == "bond") &&
        master == find_team(links, team))
        return {};
    if (device.master)
        return fail(EEXIST,
                    fmt::format("is a port of {} already; release it first: ip link set {} nomaster",
                                master == nullptr ? std::to_string(device.master.value) : master->name,
                                device.name));
    const auto* own = find_altname(links, team_mark(team));
    if (own != nullptr && is_above(links, device, *own))
        return fail(EINVAL, fmt::format("is built on {} and cannot be its port", own->name));
    if (const auto users = users_of(links, device, takes); !users.empty())
        return fail(EBUSY,
                    fmt::format("carries {}, which would receive nothing; move it to {}, or remove it: "
                                "ip link del {}",
                                text_of(users), team, users.front()->name));
    return {};
}

std::string configured_name(const TeamConfig& config, const Link& device) {
    const auto names = [&](auto is_its_name) {
        return std::ranges::find_if(config.ports, [&](const auto& port) { return is_its_name(port.first); });
    };
    auto found = names([&](const std::string& name) { return device.name == name; });
    if (found == config.ports.end())
        found = names([&](const std::string& name) { return device.has_name(name); });
    return found == config.ports.end() ? std::string() : found->first;
}

Error another_name_of(std::string_view port) {
    return {EINVAL,
            fmt::format("is another name of port {}; remove one of them from the configuration", port)};
}

Result<> check_distinct(const Links& links, const TeamConfig& config) {
    std::map<IfIndex, std::string> seen;
    for (const auto& [name, port] : config.ports) {
        const auto* link = find_named(links, name);
        if (link == nullptr) continue;
        const auto [before, fresh] = seen.try_emplace(link->index, name);
        if (!fresh)
            return fail(EINVAL, fmt::format("ports {} and {}: are one device, {}; remove one of them",
                                            before->second, name, link->name));
    }
    return {};
}

Result<> check_free(const Links& links, std::string_view team) {
    const auto* other = find_altname(links, team);
    if (other == nullptr) return {};
    return fail(EEXIST,
                fmt::format("device {0} cannot be created: {0} is an alternative name of {1}; give the "
                            "team another name, or remove that one: ip link property del dev {1} "
                            "altname {0}",
                            team, other->name));
}

Result<> has_no_user_elsewhere(const Link& device, const std::vector<MacAddress>& unicast) {
    if (unicast.empty()) return {};
    return fail(
        EBUSY,
        fmt::format("has the additional MAC address {0}, probably of a macvlan in a container, which would "
                    "receive nothing; remove the macvlan, or the address: bridge fdb del {0} dev {1} self",
                    text_of(unicast.front()), device.name));
}

std::vector<const Link*> sharing_address(const Links& links, const Link& team,
                                         std::vector<const Link*> same) {
    auto others = std::move(same);
    std::erase_if(others, [](const Link* link) {
        return !link->is_up() || link->type != ARPHRD_ETHER || port_mark_of(*link);
    });
    const auto leave_out = [&](const Link& own) {
        std::erase_if(others, [&](const Link* device) {
            return device->index == own.index || device->master == own.index ||
                   is_above(links, *device, own) || is_above(links, own, *device);
        });
    };
    leave_out(team);
    if (others.empty()) return others; // as always, so that no mark of all devices is read
    const auto name = team_of_device(team).value_or(team.name);
    for (const auto& [index, link] : links)
        if (const auto mark = port_mark_of(link); mark && mark->team == name) leave_out(link);
    return others;
}

bool is_half_made(const Links& links, std::string_view team, bool noted) {
    const auto* device = find_link(links, team);
    if (device == nullptr || find_altname(links, team_mark(team)) == device) return false;
    const auto* inner = find_altname(links, inner_mark(team));
    if (inner != nullptr && !inner->lower_elsewhere && inner->lower == device->index) return true;
    if (!noted || device->is_up() || device->master) return false;
    if (device->kind == "team" || device->kind == "bond")
        return std::ranges::none_of(links,
                                    [&](const auto& entry) { return entry.second.master == device->index; });
    const bool pair = device->kind == "veth" || device->kind == "netkit";
    inner = find_link(links, device->lower);
    return pair && !device->lower_elsewhere && inner != nullptr && inner->name.starts_with(inner_name_prefix);
}

} // namespace teamo
