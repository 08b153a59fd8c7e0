// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/changes.h"

#include <linux/if.h>

namespace teamo {

std::vector<Change> changes(const Links& links, const TeamPlan& plan) {
    std::vector<Change> list;
    for (const auto& port : plan.ports) {
        const auto* link = find_link(links, port.index);
        if (link == nullptr) continue;
        if (!port.kernel_manages_ports && link->mtu != port.mtu) list.push_back(SetMtu{port.index, port.mtu});
        constexpr std::uint32_t mask = IFF_PROMISC | IFF_ALLMULTI;
        const std::uint32_t flags = (port.promiscuous ? std::uint32_t{IFF_PROMISC} : 0U) |
                                    (port.all_multicast ? std::uint32_t{IFF_ALLMULTI} : 0U);
        if (!port.kernel_manages_ports && (link->flags & mask) != flags)
            list.push_back(SetFlags{port.index, flags, mask});
        if (link->address != port.address) list.push_back(SetAddress{port.index, port.address});
        if (port.to_set_up && !link->is_up()) list.push_back(SetFlags{port.index, IFF_UP, IFF_UP});
    }
    const auto* team = find_link(links, plan.tables.team);
    if (team != nullptr && team->address != plan.address)
        list.push_back(SetAddress{team->index, plan.address});
    if (team != nullptr && team->gso_max != plan.gso_max)
        list.push_back(SetSegmentLimits{team->index, plan.gso_max});
    // The team has a carrier while the inner end is up (drivers/net/veth.c: veth_open, veth_close; netkit
    // too).
    const auto* inner = find_link(links, plan.tables.inner);
    if (inner != nullptr && inner->is_up() != plan.carrier)
        list.push_back(SetFlags{inner->index, plan.carrier ? std::uint32_t{IFF_UP} : 0U, IFF_UP});
    return list;
}

} // namespace teamo
