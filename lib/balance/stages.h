// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages of a placement (see balancer.cpp) and what they share.
#pragma once

#include "balance/balancer.h"

namespace teamo {

// ---- the placement in progress (balancer.cpp) --------------------------------------------------

/// A port with its weight. Fair shares are proportional to the weight: the capacity, reduced by other work on
/// the interrupt CPU.
struct WeighedPort : BalancedPort {
    double weight = 1;
};

/// Buckets on ports, and the moves so far.
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
    void move(std::size_t bucket, Slot to, MoveReason reason, double gain,
              std::optional<BucketMove::Swap> swap = {});

    Placement placement() const;

private:
    const BucketLoads* loads_;
    std::vector<WeighedPort> ports_;
    RestingBuckets resting_;
    BucketOwners owners_;
    std::array<double, max_ports + 1> filled_{};
    std::vector<BucketMove> moves_; ///< in the order of each bucket's first move; some may lead back
    std::vector<std::size_t> largest_;
    double total_ = 0, weight_ = 0;
};

// ---- bulk on capable ports, which have TSO (bulk.cpp) ------------------------------------------

/// The ports between which a bucket may move for load.
enum class PortClass : std::uint8_t {
    any,
    capable, ///< with TSO: for bulk
    poor,    ///< without TSO: for bulk that does not fit on capable ports
};
using PortClasses = std::array<PortClass, bucket_count>;

constexpr bool allows(PortClass allowed, const WeighedPort& port) {
    return allowed == PortClass::any || port.segments == (allowed == PortClass::capable);
}

/// Whether the bucket counts as bulk on the ports where it is.
bool is_bulk(const BucketLoad& load);

class BulkPlacement {
public:
    BulkPlacement(PlacementDraft& draft, const BalancePolicy& policy);

    /// Whether the capable ports have room for so many more bytes/s of bulk.
    bool fits(double bytes) const;
    /// Moves bulk away from capable ports that are too full, as long as the other ports are less full.
    void spill();
    /// Moves bulk to the capable ports.
    void gather();
    PortClasses classes() const;
    /// Accounts for bulk that moved from one port (nullptr: no port) to another.
    void moved(double bytes, const WeighedPort* from, const WeighedPort& to);

private:
    bool better_off_elsewhere(double bytes) const;
    std::size_t next_to_spill() const;
    const WeighedPort& best(bool capable, double bytes) const;

    PlacementDraft* draft_;
    BalancePolicy policy_;
    double limit_ = 0; ///< bytes/s; infinite if a capacity is unknown
    double capable_weight_ = 0, poor_weight_ = 0, best_poor_weight_ = 0;
    std::array<double, max_ports + 1> bulk_on_{}; ///< bytes/s by slot
    double on_capable_ = 0, on_poor_ = 0;         ///< bytes/s of bulk on the capable and on the poor ports
};

// ---- fair shares (rebalance.cpp) ---------------------------------------------------------------

/// Searches for the fewest moves that even out the loads: brings every port that is above its fair share by
/// more than policy.tolerance of the mean down to policy.target, as far as single moves and swaps of two
/// buckets can. `gathered`: ports that have just got bulk.
void rebalance(PlacementDraft& draft, const PortClasses& classes, const BalancePolicy& policy,
               SlotSet gathered);

} // namespace teamo
