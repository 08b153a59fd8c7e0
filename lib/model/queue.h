// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace teamo {

/// What a device's root qdisc has counted (tc -s qdisc); zeros where it has none to speak of (noqueue).
struct QueueCounters {
    std::uint64_t backlog = 0; ///< bytes that wait
    std::uint64_t sent = 0;    ///< bytes that have gone through
    std::uint64_t dropped = 0; ///< packets
    bool operator==(const QueueCounters&) const = default;
};

} // namespace teamo
