// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/queue.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace teamo {

/// An upper bound of a port's drain time: the longest recent queue, divided by the rate at which it drains. A
/// shaper's rate differs from the link's, so the rate is measured while packets are queued.
class DrainBound {
public:
    using Time = std::chrono::steady_clock::time_point;

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
