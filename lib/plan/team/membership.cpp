// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/membership.h"

#include "model/observation.h"

#include <linux/if.h>
#include <linux/if_arp.h>

#include <algorithm>

namespace teamo {
Result<> may_join(const Links& links, const Link& device, std::string_view team) {
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
    if (master != nullptr && (master->kind == "team" || master->kind == "bond") && master->name == team)
        return {};
    if (device.master)
        return fail(EEXIST,
                    fmt::format("is a port of {} already; release it first: ip link set {} nomaster",
                                master == nullptr ? std::to_string(device.master.value) : master->name,
                                device.name));
    const auto* own = find_altname(links, team_mark(team));
    if (own != nullptr && stands_on(links, device, *own))
        return fail(EINVAL, fmt::format("is built on {} and cannot be its port", own->name));
    return {};
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
