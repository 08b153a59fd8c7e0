// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures, from counters, the load of each bucket and the drain time of each port. The time is an argument.
#pragma once

#include "base/clock.h"
#include "model/balance.h"

#include <optional>

namespace teamo {

/// Computes loads by bucket from rising counters.
class LoadMeter {
public:
    using Time = Clock::time_point;

    /// `constant`: time constant of the exponential smoothing, about the balancing interval, so that a burst
    /// within one interval does not move buckets. 0 or less: no smoothing.
    explicit LoadMeter(std::chrono::milliseconds constant) : constant_(constant) {}

    /// Readings may come at any interval; one at the time of the last changes nothing. The first returns
    /// zeros, the second the loads between the two. If any counter went backwards (a new BPF program counts),
    /// the reading is a first one. A load without traffic becomes zero below one byte per second.
    const BucketLoads& step(const AllBucketCounters& counters, Time now);
    /// As the last step returned them.
    const BucketLoads& loads() const { return loads_; }

private:
    /// What of the counters becomes loads.
    struct Counted {
        std::uint64_t bytes = 0, packets = 0, bulk = 0;
    };
    std::chrono::duration<double> constant_;
    std::array<Counted, bucket_count> last_{};
    std::optional<Time> last_at_; ///< none: no reading yet
    bool measured_ = false;       ///< loads_ has measured values
    BucketLoads loads_{};
};

/// An upper bound of a port's drain time: the longest recent queue, divided by the rate at which it drains. A
/// shaper's rate differs from the link's, so the rate is measured while packets are queued.
class DrainBound {
public:
    using Time = Clock::time_point;

    /// `speed`: of the link, Mbit/s; 0: unknown. Readings may come at any interval. As long as the rate of a
    /// queue is not known, the result is the maximum.
    std::chrono::nanoseconds step(const QueueCounters& reading, std::uint32_t speed, Time now);

private:
    struct Known {
        QueueCounters reading;
        Time at;
    };
    void measure(const Known& now);

    std::optional<Known> last_;
    std::optional<Known> left_; ///< the last reading with sent packets, if the queue was never empty since
    double longest_ = 0;        ///< bytes; halves every 0.1 s
    double rate_ = 0;           ///< bytes/s, measured; 0: nothing was queued
};

} // namespace teamo
