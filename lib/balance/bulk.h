// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Places bulk on capable ports, which have TSO (balancer.cpp).
#pragma once

#include "balance/placement_draft.h"

namespace teamo {

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

/// Whether some ports have TSO and some do not.
bool kinds_differ(const std::vector<WeighedPort>& ports);

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
    double level_for_capable() const;

    PlacementDraft* draft_;
    BalancePolicy policy_;
    double limit_ = 0; ///< bytes/s; infinite if a capacity is unknown
    double capable_weight_ = 0, poor_weight_ = 0, best_poor_weight_ = 0;
    std::array<double, max_ports + 1> bulk_on_{}; ///< bytes/s by slot
    double on_capable_ = 0, on_poor_ = 0;         ///< bytes/s of bulk on the capable and on the poor ports
};

} // namespace teamo
