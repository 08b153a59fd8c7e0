// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/balance.h"

namespace teamo {

/// The counters of one bucket, summed over all CPUs; `map` is a program's "teamo_bucket_counters"
/// (bpf/abi.h).
Result<BucketCounters> read_bucket_counters(int map, std::uint8_t bucket);

} // namespace teamo
