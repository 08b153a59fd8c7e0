// SPDX-License-Identifier: LGPL-2.1-or-later
//
// In which order BPF maps are written, so that the programs work by something right at every moment between.
#pragma once

#include "model/tables.h"

#include <cstdint>
#include <vector>

namespace teamo {

/// The slots that transmit and receive: one map entry, so one write.
struct LiveSlots {
    SlotSet transmit = 0, receive = 0;
    bool operator==(const LiveSlots&) const = default;
};

enum class TableWrite : std::uint8_t {
    stop,   ///< live slots: those of before without what stops
    drains, ///< by slot
    team,   ///< mode, hash, devices by slot
    cpu_slots,
    buckets,
    start, ///< live slots: as they are to be
};

/// The slots that carry before and after, by the same device.
LiveSlots staying_live(const Tables& now, const Tables& next);

/// What differs: first what stops, last what starts, and between the two what the latter needs.
std::vector<TableWrite> write_order(const Tables& now, const Tables& next);

} // namespace teamo
