// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a datapath works by: the ports, which of them carry, and the port of each bucket.
#pragma once

#include "base/named.h"
#include "model/config.h"

#include <array>
#include <bitset>
#include <chrono>
#include <vector>

namespace teamo {

/// A set of slots: bit n is slot n.
using SlotSet = std::uint32_t;
constexpr SlotSet bit(Slot slot) { return SlotSet{1} << slot.value; }

/// The slots of a bucket in order of preference: packets use the first slot that carries.
using Preference = std::array<Slot, max_ports>;
using Buckets = std::array<Preference, bucket_count>;

/// The slot that a bucket uses while only `live` slots carry; Slot{0} if none of its slots does.
constexpr Slot leaves_by(const Preference& preference, SlotSet live) {
    for (const auto slot : preference)
        if ((live & bit(slot)) != 0) return slot;
    return Slot{0};
}

enum class TransmitMode : std::uint32_t { hash, roundrobin, random, broadcast, activebackup };

constexpr TransmitMode mode_of(const RunnerConfig& runner) {
    using enum TransmitMode;
    constexpr std::array modes{broadcast, roundrobin, random, activebackup, hash, hash, hash};
    return modes[runner.index()];
}

/// What selects a packet's bucket. The programs of one kind cannot do the work of another.
enum class HashKind : std::uint8_t { by_flow, by_cpu, by_source };
constexpr HashKind kind_of(HashFields fields) {
    return has(fields, HashField::cpu)      ? HashKind::by_cpu
           : has(fields, HashField::source) ? HashKind::by_source
                                            : HashKind::by_flow;
}

/// Whether a packet leaves by the port of its bucket. By CPU a flow stays with its port until it pauses.
constexpr bool leaves_by_bucket(TransmitMode mode, HashFields fields) {
    return mode == TransmitMode::hash && kind_of(fields) != HashKind::by_cpu;
}

using BucketSet = std::bitset<bucket_count>;

/// A source address that the team has sent from, with HashField::source.
struct LearnedAddress {
    MacAddress address;
    std::uint16_t vlan = 0; ///< of the outermost tag; 0: none
    std::uint8_t bucket = 0;
    bool operator==(const LearnedAddress&) const = default;
};

/// Options of the kernel's drivers; other datapaths ignore them.
struct PortSettings {
    std::int32_t prio = 0;           ///< of the team driver, as the next two
    std::uint32_t queue_id = 0;      ///< 0: none
    std::optional<bool> user_linkup; ///< result of the link watches, if it differs from the link itself
    std::uint16_t lacp_prio = 255;   ///< of bonding: actor_port_prio
    bool operator==(const PortSettings&) const = default;
};

struct Tables {
    TransmitMode mode = TransmitMode::hash;
    HashFields hash_fields = 0;
    IfIndex team, inner;
    std::array<IfIndex, max_ports + 1> ports{}; ///< by slot; [0] is unused
    SlotSet transmit = 0;                       ///< slots that may transmit
    SlotSet receive = 0;                        ///< slots whose received packets are delivered
    /// The slots that may carry while no slot of `transmit` has a link, in order of preference: then the
    /// first with a link transmits and receives, also while no daemon runs.
    Preference standby{};
    /// The slots that must not carry again by themselves after their link was lost (link watches with a
    /// delay). They wait until the tables have their new `carrier_losses`.
    SlotSet waits = 0;
    std::array<std::uint32_t, max_ports + 1> carrier_losses{}; ///< by slot, as Link::carrier_losses
    Buckets buckets{};
    /// By bucket: the slot that a moving bucket still uses, until its traffic has paused for that slot's
    /// `drain`, which prevents reordering. Slot{0}: the bucket does not move.
    std::array<Slot, bucket_count> leaving{};
    std::array<std::chrono::nanoseconds, max_ports + 1> drain{}; ///< drain time, by slot
    /// With HashField::cpu: by CPU number, the slot of the port whose interrupts that CPU serves; none for
    /// CPUs beyond the list. A bucket is then a CPU number modulo 256.
    std::vector<Slot> cpu_slots;
    std::array<PortSettings, max_ports + 1> settings{}; ///< by slot
    Repetition notify_peers, mcast_rejoin;              ///< as configured
    /// An EtherType whose frames stay at the ports, 0: none. With the team driver and bonding they do so
    /// anyway.
    std::uint16_t port_protocol = 0;
    bool operator==(const Tables&) const = default;
};

/// The slot that a bucket uses now; for a moving bucket without a gap yet it is the former slot.
constexpr Slot leaves_by(const Tables& tables, std::size_t bucket) {
    if (has(tables.hash_fields, HashField::cpu) && bucket < tables.cpu_slots.size())
        if (const auto slot = tables.cpu_slots[bucket]; slot && (tables.transmit & bit(slot)) != 0)
            return slot;
    const auto leaving = tables.leaving[bucket];
    if (leaving && (tables.transmit & bit(leaving)) != 0) return leaving;
    return leaves_by(tables.buckets[bucket], tables.transmit);
}

} // namespace teamo
