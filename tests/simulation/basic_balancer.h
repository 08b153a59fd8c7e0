// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "balance/buckets.h"

#include <vector>

namespace teamo::simulation {

/// The result of libteam's tx_balancer "basic" for one interval (teamd_balancer.c, 1.31): in the order of the
/// bytes of the last interval, each bucket goes to the port with the least load so far. Ignores the present
/// owner and the speed of the ports. A bucket without traffic stays.
BucketOwners basic_balancer(const BucketOwners& now, const std::array<double, bucket_count>& bytes,
                            const std::vector<Slot>& ports);

} // namespace teamo::simulation
