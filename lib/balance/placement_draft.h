// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A placement in progress (balancer.cpp): buckets on ports, and the moves so far.
#pragma once

#include "balance/balancer.h"

namespace teamo {

/// A port with its weight. Fair shares are proportional to the weight: the capacity, reduced by other work on
/// the interrupt CPU.
struct WeighedPort {
    Slot slot;
    double weight = 1;
    double capacity = 0; ///< see BalancedPort
    bool segments = true;
};

/// Ports with an invalid or duplicate slot are left out.
std::vector<WeighedPort> weigh(std::span<const BalancedPort> ports, bool aware);

class PlacementDraft {
public:
    PlacementDraft(const BucketOwners& now, const BucketLoads& loads, std::vector<WeighedPort> ports,
                   const RestingBuckets& resting);

    const std::vector<WeighedPort>& ports() const { return ports_; }
    const WeighedPort* port(Slot slot) const;
    const BucketLoad& load(std::size_t bucket) const { return (*loads_)[bucket]; }
    double bytes(std::size_t bucket) const { return (*loads_)[bucket].bytes; }
    Slot owner(std::size_t bucket) const { return owners_[bucket]; }
    bool rests(std::size_t bucket) const { return resting_[bucket]; }
    /// Whether its owner has TSO; false without an owner.
    bool on_capable(std::size_t bucket) const;

    /// Bytes/s on a port.
    double on(const WeighedPort& port) const { return filled_[port.slot.value]; }
    /// Bytes/s per weight, with `more` bytes/s added.
    double level(const WeighedPort& port, double more = 0) const { return (on(port) + more) / port.weight; }
    double total() const { return total_; }
    /// The level of all ports with an even load.
    double mean() const { return total_ / weight_; }
    double fullest() const;
    /// The buckets with load, the largest first; busy(): only those of one port.
    const std::vector<std::size_t>& largest() const { return largest_; }
    std::vector<std::size_t> busy(Slot slot) const;

    /// The decrease of the fuller port's level, as a share of the mean, if `amount` bytes/s moved.
    double relief(const WeighedPort& from, const WeighedPort& to, double amount) const;
    void move(std::size_t bucket, Slot to, MoveReason reason, double gain);

    Placement placement() const;

private:
    struct Moved {
        MoveReason reason = MoveReason::load;
        double gain = 0;
    };
    const BucketLoads* loads_;
    std::vector<WeighedPort> ports_;
    RestingBuckets resting_;
    std::array<std::int8_t, max_ports + 1> index_{}; ///< into ports_, by slot; -1: none
    BucketOwners was_, owners_;
    std::array<double, max_ports + 1> filled_{};
    std::array<Moved, bucket_count> moved_{};
    std::vector<std::uint8_t> order_; ///< buckets in the order of their first moves
    std::vector<std::size_t> largest_;
    double total_ = 0, weight_ = 0;
};

} // namespace teamo
