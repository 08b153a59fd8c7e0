// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A device's offloads and filters as ethtool -k has them, by the kernel's own names ("rx-vlan-filter",
// "rx-lro"; net/ethtool/common.c: netdev_features_strings).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

namespace teamo {

using FeatureNames = std::set<std::string, std::less<>>;

struct Features {
    FeatureNames active;     ///< what the device does
    FeatureNames wanted;     ///< what it was asked for; a driver may not do it yet, or not at all
    FeatureNames changeable; ///< the others are "[fixed]"
    bool operator==(const Features&) const = default;
};

/// What some of them shall be, or were: true is on.
using FeatureSettings = std::map<std::string, bool, std::less<>>;

/// The settings that are not so yet.
inline FeatureSettings missing(const Features& features, const FeatureSettings& settings) {
    FeatureSettings rest;
    for (const auto& [name, on] : settings)
        if (features.active.contains(name) != on) rest.emplace(name, on);
    return rest;
}

} // namespace teamo
