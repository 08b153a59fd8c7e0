// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which bucket shall leave by which port, by what the buckets were measured to carry. One pure function: it
// begins with where the buckets are and moves as few as it can. docs/adr/0012.
#pragma once

#include "balance/buckets.h"
#include "model/balance.h"

#include <bitset>
#include <span>
#include <vector>

namespace teamo {

/// A port that carries.
struct BalancedPort {
    Slot slot;
    double capacity = 0;  ///< bytes/s; 0 is unknown, and counts as the mean of those that are known
    bool segments = true; ///< TSO is on
    double cpu_load = 0;  ///< of its interrupt CPU by others' work, 0 to 1: at 1 the port counts half
    bool operator==(const BalancedPort&) const = default;
};

struct BalancePolicy {
    /// Heeds TSO and the interrupt CPUs. Without it only bytes and speed count.
    bool aware = true;
    /// Nothing moves for load while no port has more than this above what it shall have, as a share of the
    /// mean. A port that has more is brought down to `target`. What is promised is 5 %: the rest is for loads
    /// that were measured over one interval and are not the same in the next. With 3 % noise alone moves half
    /// a bucket an interval (tests/simulation).
    double tolerance = 0.04;
    double target = 0.02;
    /// The share of the capable ports' capacity that bulk may fill before it spills to the others: throughput
    /// comes first. It comes back when it would fill no more than nine tenths of that. A GSO packet is
    /// counted with one header for all its segments, so that a full wire shows as 0.94 at an MTU of 1500.
    /// Where the capacity of a capable port is unknown nothing spills: such a device (tap, virtio) has no
    /// wire that fills, and what it costs to segment is all there is to know of it.
    double spill = 0.9;
};

/// Buckets that stay where they are whatever they carry, as long as their port is there.
using RestingBuckets = std::bitset<bucket_count>;

struct Placement {
    BucketOwners owners;
    /// How `homes` differs from what was, each bucket once. What its port lost first, then offload, then
    /// load.
    std::vector<BucketMove> moves;
    /// By slot, bytes/s: what the port has if the loads stay.
    std::array<double, max_ports + 1> planned{};
};

/// Every bucket gets one of `ports`, and where it has one it stays, but for these reasons:
/// - membership: its home is none of them.
/// - offload (aware, and some ports segment while others do not): a bucket of bulk, that is with 60 % of its
///   bytes or more in GSO packets, goes to a port that segments, until 1 to 2 % of all bulk are elsewhere at
///   most. It is bulk until it has less than 40 %: so long it does not leave that kind of port for load.
///   Others make room for it.
/// - load: a port has more than the tolerance above what it shall have, which is as even as the kinds of
///   buckets and ports allow. A bucket of more than a port's fair share gets one nearly for itself, the
///   fastest, and the others are even on the rest. Idle buckets never move for load.
/// What is `resting` moves for membership only, and the others are even around it.
///
/// The same loads and ports again, with the homes that came out, give no moves. Without ports nothing
/// changes.
Placement place(const BucketOwners& now, const BucketLoads& loads, std::span<const BalancedPort> ports,
                const BalancePolicy& policy, const RestingBuckets& resting = {});

} // namespace teamo
