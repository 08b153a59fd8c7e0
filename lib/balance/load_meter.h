// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/balance.h"

#include <chrono>
#include <optional>

namespace teamo {

/// Loads by bucket, out of counters that only grow. A value: readings and their time in, loads out.
class LoadMeter {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `constant`: after so long a new load counts for 63 per cent, the rest is what was before. About the
    /// balancing interval, so that a burst within one does not move buckets. 0 or less: nothing is smoothed.
    explicit LoadMeter(std::chrono::milliseconds constant) : constant_(constant) {}

    /// Readings may come at any distance; one at the time of the last changes nothing. The first gives
    /// zeros, the second the loads between both. Where any counter went backwards (a new program counts),
    /// that reading is a first one. What sends nothing and has faded to less than a byte a second is zero.
    BucketLoads step(const AllBucketCounters& counters, Time now);

private:
    struct Known {
        AllBucketCounters counters;
        Time at;
    };
    std::chrono::duration<double> constant_;
    std::optional<Known> last_;
    bool measured_ = false; ///< loads_ is of readings, not of nothing
    BucketLoads loads_{};
};

} // namespace teamo
