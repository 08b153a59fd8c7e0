// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/upper_devices.h"

#include "kernel/netlink/addresses.h"

namespace teamo {

bool UpperDevices::update() {
    const auto& device = context_.device;
    const auto* team = context_.team();
    if (team == nullptr) return false;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers{{team->master, 0}};
    for (const auto& [index, link] : context_.links())
        if (link.lower == device.team && !link.lower_elsewhere && link.index != device.inner)
            uppers.emplace_back(index, link.flags);
    if (uppers == uppers_) return false;
    uppers_ = std::move(uppers);
    update_addresses();
    return true; // VLANs and bridges change what ports receive, also with the same addresses
}

bool UpperDevices::update_addresses() {
    auto* known = context_.observer->edit(context_.device.team);
    auto now = context_.control.read(context_.device.team);
    auto list = read_unicast_list(context_.device.team);
    if (known == nullptr || !now || !list) return false; // tried again by the next poll
    if (now->promiscuity == known->promiscuity && *list == unicast_list_) return false;
    *known = std::move(*now);
    unicast_list_ = std::move(*list);
    return true;
}

} // namespace teamo
