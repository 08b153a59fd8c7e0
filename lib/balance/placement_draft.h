// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A placement while it is being thought out (balancer.cpp): buckets on ports, and what was moved so far.
#pragma once

#include "balance/balancer.h"

namespace teamo {

/// A port as the balancer sees it. `weight` is its share of the load in proportion to the others': its
/// capacity, less what others take of its interrupt CPU.
struct WeighedPort {
    Slot slot;
    double weight = 1;
    double capacity = 0; ///< as BalancedPort has it
    bool segments = true;
};

/// Those with a valid slot, each once.
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
    /// Its home segments. False for the unowned.
    bool on_capable(std::size_t bucket) const;

    /// Bytes/s on a port.
    double on(const WeighedPort& port) const { return filled_[port.slot.value]; }
    /// The same by weight, as it would be with `more`.
    double level(const WeighedPort& port, double more = 0) const { return (on(port) + more) / port.weight; }
    double total() const { return total_; }
    /// The level of all ports if they were even.
    double mean() const { return total_ / weight_; }
    double fullest() const;
    /// The buckets that carry something, the largest first; those of one port.
    const std::vector<std::size_t>& largest() const { return largest_; }
    std::vector<std::size_t> busy(Slot slot) const;

    /// By how much the fuller of two ports would fall, as a share of the mean, if `amount` went over.
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
    std::vector<std::uint8_t> order_; ///< of the first move of each
    std::vector<std::size_t> largest_;
    double total_ = 0, weight_ = 0;
};

} // namespace teamo
