// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What each port shall have (balancer.cpp).
#pragma once

#include "balance/bulk.h"
#include "balance/placement_draft.h"

#include <bitset>

namespace teamo {

struct FairShares {
    std::array<double, max_ports + 1> share{}; ///< by slot, bytes/s
    std::bitset<bucket_count> settled;         ///< large ones and those that rest, which have their port
};

/// Even by weight, as far as the sides allow. Buckets that are larger than some port's share are settled
/// first, where they are or where they weigh least; a port that has more than its share by these is closed to
/// the rest. `margin`: a share of the mean that is not worth a move.
FairShares fair_shares(PlacementDraft& draft, const PortClasses& classes, double margin);

} // namespace teamo
