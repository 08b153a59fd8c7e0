// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/queue.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace teamo {

/// After how long what was given to a port has surely left the machine: the longest queue of late, at the
/// rate at which it is emptied. A shaper's rate is not the link's: it is measured while something waits.
class DrainBound {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `speed` of the link, Mbit/s; 0 is unknown. Readings may come at any distance; as long as they do not
    /// tell how fast what waits is emptied, the answer is the longest there is.
    std::chrono::nanoseconds step(const QueueCounters& reading, std::uint32_t speed, Time now);

private:
    struct Known {
        QueueCounters reading;
        Time at;
    };
    void measure(const Known& now);

    std::optional<Known> last_;
    std::optional<Known> left_; ///< when packets were last seen to have left, and something has waited since
    double longest_ = 0;        ///< bytes; forgotten by half each tenth of a second
    double rate_ = 0;           ///< bytes/s, measured; 0: nothing has waited
};

} // namespace teamo
