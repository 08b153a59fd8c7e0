// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the guard of a team may drop. A pure function.
#pragma once

#include "model/guard.h"
#include "model/observation.h"

#include <optional>
#include <set>
#include <vector>

namespace teamo {

/// What the kernel says of the addresses of this namespace.
struct GuardSight {
    std::set<IpAddress> addresses{};          ///< of all devices: Linux answers for them on each device
    std::vector<MacAddress> hardware{};       ///< what the team accepts besides its own address, and groups
    std::optional<IpAddress> local_network{}; ///< a network that the host takes as its own
    bool proxies = false;                     ///< the team or a device on it answers for other hosts
    std::string failure{};                    ///< it could not be read
    bool operator==(const GuardSight&) const = default;
};

struct GuardPlan {
    GuardTables tables;
    std::string aside; ///< why nothing is dropped; empty: there is no reason
    bool operator==(const GuardPlan&) const = default;
};

/// The devices whose changes matter: the team, its ports, and what stands on the team.
std::vector<const Link*> guarded_devices(const Links& links, IfIndex team, const std::set<IfIndex>& ports);

/// `limit`: the most addresses of each kind that the program can keep.
GuardPlan plan_guard(GuardMode mode, const Links& links, IfIndex team, const std::set<IfIndex>& ports,
                     const GuardSight& sight, std::size_t limit);

} // namespace teamo
