// SPDX-License-Identifier: LGPL-2.1-or-later
//
// In which order BPF maps are written, so that the programs see valid tables after every single write.
#pragma once

#include "model/tables.h"

#include <cstdint>
#include <vector>

namespace teamo {

/// The slots that transmit and receive, and the standby slots: one map entry, so one write.
struct LiveSlots {
    SlotSet transmit = 0, receive = 0;
    Preference standby{};
    bool operator==(const LiveSlots&) const = default;
};

enum class TableWrite : std::uint8_t {
    stop,    ///< live slots: the old ones without those that stop
    drains,  ///< by slot
    team,    ///< mode, hash, ports by slot
    devices, ///< how the ports' links are seen, by slot; after `team`
    cpu_slots,
    buckets,
    start, ///< live slots: as planned
};

LiveSlots live_slots(const Tables& tables);

/// The slots that carry in both tables and keep their device.
LiveSlots staying_live(const Tables& now, const Tables& next);

/// What differs: first what stops, last what starts, and between them what the starting slots need. `now` is
/// Tables{} if it is unknown, as after a failed write: then everything is written.
std::vector<TableWrite> write_order(const Tables& now, const Tables& next);

} // namespace teamo
