// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of the offload contract, for the state document and teamoctl.
#pragma once

#include "model/observation.h"
#include "model/offload.h"

namespace teamo {

/// The offloads of one device, by the kernel's names; only those of the catalogue.
struct DeviceOffloads {
    std::string name;
    FeatureNames active{};     ///< on now
    FeatureNames changeable{}; ///< the driver can switch them
    FeatureNames shall_be_on{}, shall_be_off{}, required{};
    FeatureNames lacking{}; ///< required and not on
    unsigned repaired = 0;  ///< number of repairs
    bool gave_up = false;   ///< another program changes it again and again; we gave up
    bool last = false;      ///< demoted: carries only while no other port can ("lacking": "demote")
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
