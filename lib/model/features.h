// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A device's offloads and filters as ethtool -k shows them, by the kernel's names ("rx-vlan-filter",
// "rx-lro"; net/ethtool/common.c: netdev_features_strings).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

namespace teamo {

using FeatureNames = std::set<std::string, std::less<>>;

struct Features {
    FeatureNames active;     ///< on
    FeatureNames wanted;     ///< requested; the driver may not have them on (yet)
    FeatureNames changeable; ///< all others are "[fixed]"
    bool operator==(const Features&) const = default;
};

/// Wanted or former values of features; true: on.
using FeatureSettings = std::map<std::string, bool, std::less<>>;

/// The settings that differ from the active features.
inline FeatureSettings missing(const Features& features, const FeatureSettings& settings) {
    FeatureSettings rest;
    for (const auto& [name, on] : settings)
        if (features.active.contains(name) != on) rest.emplace(name, on);
    return rest;
}

} // namespace teamo
