// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the offload contract stands, as a value: what the state document and teamoctl speak of.
#pragma once

#include "model/observation.h"
#include "model/offload.h"

namespace teamo {

/// Of one device. Names are the kernel's, and only those of the catalogue.
struct DeviceOffloads {
    std::string name;
    FeatureNames active{};     ///< what it does now
    FeatureNames changeable{}; ///< what its driver lets one switch
    FeatureNames shall_be_on{}, shall_be_off{}, required{};
    FeatureNames lacking{}; ///< required and not on
    unsigned repaired = 0;  ///< how often something was put right
    bool gave_up = false;   ///< somebody else was more patient
    bool last = false;      ///< carries only while no other can ("lacking": "demote")
    SegmentLimits gso_max{};
    bool operator==(const DeviceOffloads&) const = default;
};

struct OffloadStatus {
    Lacking lacking = Lacking::accept; ///< the team's; a port may have its own
    bool repair = true;
    DeviceOffloads team;
    std::vector<DeviceOffloads> ports; ///< in the order they joined
    bool operator==(const OffloadStatus&) const = default;
};

} // namespace teamo
