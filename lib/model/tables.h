// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a datapath works by, as a value: which ports there are, which of them carry, and which bucket
// leaves by which port. The daemon makes it, a datapath puts it into effect.
#pragma once

#include "base/named.h"
#include "model/config.h"

#include <array>
#include <chrono>
#include <vector>

namespace teamo {

/// A set of slots, one bit each (bit = slot number).
using SlotSet = std::uint32_t;
constexpr SlotSet bit(Slot slot) { return SlotSet{1} << slot.value; }

/// The slots of a bucket in order of preference: a packet leaves by the first that is live.
using Preference = std::array<Slot, max_ports>;
using Buckets = std::array<Preference, bucket_count>;

/// Where a bucket leaves while only `live` slots carry; Slot{0} where none of its slots does.
constexpr Slot leaves_by(const Preference& preference, SlotSet live) {
    for (const auto slot : preference)
        if ((live & bit(slot)) != 0) return slot;
    return Slot{0};
}

enum class TransmitMode : std::uint32_t { hash, roundrobin, random, broadcast, activebackup };

/// What only the kernel's team driver has a place for.
struct PortSettings {
    std::int32_t prio = 0;
    std::uint32_t queue_id = 0;      ///< 0: none
    std::optional<bool> user_linkup; ///< what the link watches say, where the link itself says otherwise
    bool operator==(const PortSettings&) const = default;
};

struct Tables {
    TransmitMode mode = TransmitMode::hash;
    HashFields hash_fields = 0;
    IfIndex team, inner;
    std::array<IfIndex, max_ports + 1> ports{}; ///< by slot; [0] is none
    SlotSet transmit = 0;                       ///< slots that may transmit
    SlotSet receive = 0;                        ///< slots whose arrivals are delivered
    Buckets buckets{};
    /// A bucket that moves: the slot that it goes on leaving by until its traffic has paused for that slot's
    /// `drain`, so that nothing overtakes. Slot{0}: it is where it shall be.
    std::array<Slot, bucket_count> leaving{};
    std::array<std::chrono::nanoseconds, max_ports + 1>
        drain{}; ///< by slot: all that left by it is gone then
    /// With HashField::cpu: by CPU number, the slot of the port whose interrupts that CPU serves; a CPU
    /// beyond the list has none. A bucket then is a CPU, modulo 256.
    std::vector<Slot> cpu_slots;
    std::array<PortSettings, max_ports + 1> settings{}; ///< by slot
    Repetition notify_peers, mcast_rejoin;              ///< as configured
    bool operator==(const Tables&) const = default;
};

/// Where a bucket leaves now, one that moves and has not yet paused included.
constexpr Slot leaves_by(const Tables& tables, std::size_t bucket) {
    if (has(tables.hash_fields, HashField::cpu) && bucket < tables.cpu_slots.size())
        if (const auto slot = tables.cpu_slots[bucket]; slot && (tables.transmit & bit(slot)) != 0)
            return slot;
    const auto leaving = tables.leaving[bucket];
    if (leaving && (tables.transmit & bit(leaving)) != 0) return leaving;
    return leaves_by(tables.buckets[bucket], tables.transmit);
}

} // namespace teamo
