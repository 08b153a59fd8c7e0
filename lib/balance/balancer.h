// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Places the buckets on ports by their measured load. A pure function that starts from the present owners and
// moves as few buckets as possible. docs/adr/0012.
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
    double capacity = 0;  ///< bytes/s; 0: unknown, counts as the mean of the known ones
    bool segments = true; ///< TSO is on
    double cpu_load = 0;  ///< of its interrupt CPU by other work, 0 to 1; at 1 the port has half its weight
    double weight = 0;    ///< its share beside those of the others; 0: by the capacity
};

/// What the ports can carry in proportion to their weights, of which those without one have 1: none more than
/// its link. Without any weight nothing changes.
void apply_weights(std::span<BalancedPort> ports);

struct BalancePolicy {
    /// Considers TSO and interrupt CPUs; otherwise only bytes and speed.
    bool aware = true;
    /// A port above its fair share by more than `tolerance`, as a share of the mean, is brought down to
    /// `target`. We promise 5 %: the difference to 4 % is for loads that change between intervals. With 3 %
    /// noise alone would move half a bucket per interval (tests/simulation).
    double tolerance = 0.04;
    double target = 0.02;
    /// The share of the capable ports' capacity that bulk may fill before it spills to the other ports, as
    /// throughput comes first. It returns when it would fill at most nine tenths of that. A GSO packet counts
    /// with one header for all its segments, so that a full wire shows as 0.94 at an MTU of 1500. Nothing
    /// spills if the capacity of a capable port is unknown: such a device (tap, virtio) has no wire.
    double spill = 0.9;
    /// While all buckets together transmit less, in bytes/s, they move only for membership.
    double idle = 0;
};

/// Buckets that keep their port at any load, as long as the port is in the team.
using RestingBuckets = std::bitset<bucket_count>;

struct Placement {
    BucketOwners owners;
    /// The changes of `owners`, each bucket once: for membership first, then for offload, then for load.
    std::vector<BucketMove> moves;
    /// By slot, bytes/s: the load of the port if the loads stay the same.
    std::array<double, max_ports + 1> planned{};
};

/// Gives every bucket one of `ports`. A bucket keeps its owner except for these reasons:
/// - membership: its owner is not in `ports`.
/// - offload (if aware, and only some ports have TSO): a bulk bucket, with at least 60 % of its bytes in GSO
///   packets, goes to a port with TSO, until at most 1 to 2 % of all bulk are on other ports. It remains bulk
///   until it has less than 40 %; until then it does not leave the ports with TSO for load. Other buckets
///   make room for it.
/// - load: a port is above its fair share by more than the tolerance. Fair shares are as even as the classes
///   of buckets and ports allow. A bucket larger than a port's fair share gets a port nearly alone, the
///   fastest one; the others share the rest evenly. Idle buckets never move for load.
/// `resting` buckets move for membership only; the others are balanced around them.
///
/// The same loads and ports with the resulting owners give no moves. Without ports nothing changes.
Placement place(const BucketOwners& now, const BucketLoads& loads, std::span<const BalancedPort> ports,
                const BalancePolicy& policy, const RestingBuckets& resting = {});

} // namespace teamo
