// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace teamo {

/// The counters of a device's root qdisc (tc -s qdisc); zeros without a queue (noqueue).
struct QueueCounters {
    std::uint64_t backlog = 0; ///< bytes in the queue
    std::uint64_t sent = 0;    ///< bytes
    std::uint64_t dropped = 0; ///< packets
    bool operator==(const QueueCounters&) const = default;
};

} // namespace teamo
