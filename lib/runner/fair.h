// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What each port shall have (balancer.cpp).
#pragma once

#include "runner/bulk.h"
#include "runner/draft.h"

#include <bitset>

namespace teamo {

struct Fair {
    std::array<double, max_ports + 1> share{}; ///< by slot, bytes/s
    std::bitset<bucket_count> settled;         ///< large ones, which have their port
};

/// Even by weight, as far as the sides allow. Buckets larger than their port's share are settled first, each
/// on the port where it weighs least; one that is more than any port's share closes its port to the rest.
/// `margin`: a share of the mean that is not worth a move.
Fair fair_shares(Draft& draft, const Sides& sides, double margin);

} // namespace teamo
