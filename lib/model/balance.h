// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What leaves by the hash buckets, and what is moved because of it.
#pragma once

#include "base/named.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace teamo {

/// What has left by a bucket since counting began; a GSO packet counts once, with its whole length.
struct BucketCounters {
    std::uint64_t bytes = 0, packets = 0;
    std::uint64_t gso_bytes = 0; ///< of these bytes, those of GSO packets
    bool operator==(const BucketCounters&) const = default;
};
using AllBucketCounters = std::array<BucketCounters, bucket_count>;

/// A bucket's load per second, smoothed.
struct BucketLoad {
    double bytes = 0, packets = 0;
    double bulk = 0; ///< bytes of GSO packets
    bool operator==(const BucketLoad&) const = default;
};
using BucketLoads = std::array<BucketLoad, bucket_count>;

enum class MoveReason : std::uint8_t {
    load,       ///< its port had too much
    offload,    ///< bulk goes where TSO is, or makes room there
    by_hand,    ///< an administrator's word
    membership, ///< its port left
};
constexpr std::string_view name_of(MoveReason reason) {
    switch (reason) {
    case MoveReason::load: return "load";
    case MoveReason::offload: return "offload";
    case MoveReason::by_hand: return "by hand";
    case MoveReason::membership: return "membership";
    }
    return "?";
}

struct BucketMove {
    std::uint8_t bucket = 0;
    Slot from, to;
    /// By how much the fuller of the two ports falls, as a share of the mean of all (0.1 is ten per cent); of
    /// two buckets that change places each has what both bring. Or the bulk that gets to a capable port, as a
    /// share of all. Never negative; 0 for by_hand and membership.
    double gain = 0;
    MoveReason reason = MoveReason::load;
    bool operator==(const BucketMove&) const = default;
};

} // namespace teamo
