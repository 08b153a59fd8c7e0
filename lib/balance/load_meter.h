// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/balance.h"

#include <chrono>
#include <optional>

namespace teamo {

/// Computes loads by bucket from rising counters. The time is an argument.
class LoadMeter {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `constant`: time constant of the exponential smoothing, about the balancing interval, so that a burst
    /// within one interval does not move buckets. 0 or less: no smoothing.
    explicit LoadMeter(std::chrono::milliseconds constant) : constant_(constant) {}

    /// Readings may come at any interval; one at the time of the last changes nothing. The first returns
    /// zeros, the second the loads between the two. If any counter went backwards (a new BPF program counts),
    /// the reading is a first one. A load without traffic becomes zero below one byte per second.
    BucketLoads step(const AllBucketCounters& counters, Time now);

private:
    struct Known {
        AllBucketCounters counters;
        Time at;
    };
    std::chrono::duration<double> constant_;
    std::optional<Known> last_;
    bool measured_ = false; ///< loads_ has measured values
    BucketLoads loads_{};
};

} // namespace teamo
