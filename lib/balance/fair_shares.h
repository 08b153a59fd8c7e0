// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The fair share of each port (balancer.cpp).
#pragma once

#include "balance/bulk.h"
#include "balance/placement_draft.h"

#include <bitset>

namespace teamo {

struct FairShares {
    std::array<double, max_ports + 1> share{}; ///< by slot, bytes/s
    std::bitset<bucket_count> settled;         ///< large and resting buckets, whose port is final
};

/// Even by weight, as far as the classes allow. Buckets larger than a port's share are settled first: on
/// their owner, or on the port with the lowest level. A port that exceeds its share by these is closed to the
/// rest. `margin`: differences up to this share of the mean are not worth a move.
FairShares fair_shares(PlacementDraft& draft, const PortClasses& classes, double margin);

} // namespace teamo
