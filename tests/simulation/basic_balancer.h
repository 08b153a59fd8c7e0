// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "balance/buckets.h"

#include <vector>

namespace teamo::simulation {

/// What libteam's tx_balancer "basic" does every interval (teamd_balancer.c, 1.31), told in its results: of
/// the bytes of the last interval, the largest bucket goes to the port that was given least so far, and so
/// on. Where a bucket was does not count, nor does a port's speed. What sent nothing stays.
BucketOwners basic_balancer(const BucketOwners& now, const std::array<double, bucket_count>& bytes,
                            const std::vector<Slot>& ports);

} // namespace teamo::simulation
