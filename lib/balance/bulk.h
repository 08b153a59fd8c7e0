// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bulk goes where TSO is (balancer.cpp): which bucket is bulk, and what of it the capable ports take.
#pragma once

#include "balance/placement_draft.h"

namespace teamo {

/// What ports a bucket may be on, as far as load is concerned.
enum class PortClass : std::uint8_t {
    any,
    capable, ///< bulk, where it belongs
    poor,    ///< bulk that did not fit
};
using PortClasses = std::array<PortClass, bucket_count>;

constexpr bool allows(PortClass side, const WeighedPort& port) {
    return side == PortClass::any || port.segments == (side == PortClass::capable);
}

/// Some ports segment and some do not.
bool kinds_differ(const std::vector<WeighedPort>& ports);

/// Bulk enough to stay on its side.
bool is_bulk(const BucketLoad& load);

class BulkPlacement {
public:
    BulkPlacement(PlacementDraft& draft, const BalancePolicy& policy);

    /// So many bytes/s of bulk could come to the capable ports without filling them.
    bool fits(double bytes) const;
    /// Takes from the capable ports what would fill them, if the others are better off.
    void spill();
    /// Brings bulk to the capable ports.
    void gather();
    PortClasses classes() const;
    /// What somebody else moved, or did not count before.
    void moved(double bytes, const WeighedPort* from, const WeighedPort& to);

private:
    bool better_off_elsewhere(double bytes) const;
    std::size_t next_to_spill() const;
    const WeighedPort& best(bool capable, double bytes) const;
    double level_for_capable() const;

    PlacementDraft* draft_;
    BalancePolicy policy_;
    double limit_ = 0; ///< bytes/s; infinite where a capacity is unknown
    double capable_weight_ = 0, poor_weight_ = 0, best_poor_weight_ = 0;
    std::array<double, max_ports + 1> bulk_on_{}; ///< bytes/s by slot
    double here_ = 0, elsewhere_ = 0;             ///< bytes/s of bulk on the capable ports, on the others
};

} // namespace teamo
