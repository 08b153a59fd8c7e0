// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Traffic of the hash buckets and the ports' queues, and moves of buckets.
#pragma once

#include "base/named.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace teamo {

/// Traffic sent in a bucket since counting began; a GSO packet counts once, with its whole length.
struct BucketCounters {
    std::uint64_t bytes = 0, packets = 0;
    std::uint64_t gso_bytes = 0;    ///< part of `bytes` in GSO packets
    std::uint64_t tcp_segments = 0; ///< with data; a GSO packet counts as its segments
    std::uint64_t tcp_again = 0;    ///< of these, sent before (retransmissions)
};
using AllBucketCounters = std::array<BucketCounters, bucket_count>;

/// A bucket's load per second, smoothed.
struct BucketLoad {
    double bytes = 0, packets = 0;
    double bulk = 0; ///< bytes of GSO packets
    bool operator==(const BucketLoad&) const = default;
};
using BucketLoads = std::array<BucketLoad, bucket_count>;

/// The counters of a device's root qdisc (tc -s qdisc); zeros without a queue (noqueue).
struct QueueCounters {
    std::uint64_t backlog = 0; ///< bytes in the queue
    std::uint64_t sent = 0;    ///< bytes
    std::uint64_t packets = 0; ///< sent; a GSO packet counts as its segments
    std::uint64_t dropped = 0; ///< packets
    bool operator==(const QueueCounters&) const = default;
};

enum class MoveReason : std::uint8_t {
    load,       ///< its port had too much load
    offload,    ///< bulk goes to a port with TSO, or another bucket makes room there
    by_hand,    ///< by the administrator
    membership, ///< its port came or went
};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<MoveReason>{"load", "offload", "by hand",
                                                                        "membership"};

/// How a move ended.
enum class MoveEnd : std::uint8_t {
    pending, ///< waits for a gap
    in_gap,  ///< moved in a gap, without reordering
    forced,  ///< moved without a gap, as the gain was large enough; packets may have been reordered
    given_up ///< not moved: there was no gap and the gain was too small
};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<MoveEnd>{"pending", "in a gap", "forced",
                                                                     "given up"};

struct BucketMove {
    std::uint8_t bucket = 0;
    Slot from, to;
    /// For load: the decrease of the fuller port's load, as a share of the mean of all ports (0.1 is ten per
    /// cent); each of two swapped buckets has the gain of both. For offload: the bulk that moves to a port
    /// with TSO, as a share of all bulk. Never negative; 0 for by_hand and membership.
    double gain = 0;
    MoveReason reason = MoveReason::load;
    /// A bucket that goes the other way at the same time.
    struct Swap {
        std::uint8_t other = 0;
        /// As `gain`, once the other bucket has moved: its new port has the load of both until this one
        /// moves.
        double gain_after_other = 0;
        bool operator==(const Swap&) const = default;
    };
    std::optional<Swap> swap{};
    bool operator==(const BucketMove&) const = default;
};

} // namespace teamo
