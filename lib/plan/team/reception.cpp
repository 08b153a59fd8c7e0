// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/reception.h"

#include <algorithm>
#include <array>

namespace teamo {
namespace {
constexpr std::array<std::string_view, 2> tag_filters{"rx-vlan-filter", "rx-vlan-stag-filter"};
} // namespace

bool takes_tags(const Links& links, const Link& team) {
    if (team.master) {
        const auto* master = find_link(links, team.master);
        return master == nullptr || master->kind != "vrf"; // a VRF works on layer 3
    }
    return std::ranges::any_of(links, [&](const auto& entry) {
        return entry.second.kind == "vlan" && stands_on(links, entry.second, team);
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
