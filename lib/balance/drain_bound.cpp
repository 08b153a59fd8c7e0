// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/drain_bound.h"

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// The card's ring, which no qdisc counts; byte queue limits keep it to a few packets of the largest size.
constexpr double ring_bytes = 2 * 65536;
/// For the receiver: two ports end in two receive queues, whose CPUs need not run at the same time.
constexpr auto margin = 2ms;
constexpr auto most = 500ms;
constexpr double unknown_rate = 125e6; // 1 Gbit/s
constexpr double half_life = 0.1;      // seconds
/// A queue can grow between two readings.
constexpr double reserve = 1.5;

} // namespace

/// Measures the rate between two readings with sent packets while the queue was never empty, so that it
/// drained at its full rate. From any other start the rate would seem higher: a packet of 64 KiB leaves a
/// slow shaper only every tenth reading.
void DrainBound::measure(const Known& now) {
    if (left_) {
        const double seconds = std::chrono::duration<double>(now.at - left_->at).count();
        const double measured = static_cast<double>(now.reading.sent - left_->reading.sent) / seconds;
        rate_ = rate_ == 0 ? measured : (rate_ + measured) / 2;
    }
    left_ = now;
}

std::chrono::nanoseconds DrainBound::step(const QueueCounters& reading, std::uint32_t speed, Time now) {
    if (last_ && now > last_->at) {
        const double seconds = std::chrono::duration<double>(now - last_->at).count();
        longest_ *= std::exp2(-seconds / half_life);
        if (last_->reading.backlog == 0 || reading.backlog == 0)
            left_.reset();
        else if (reading.sent > last_->reading.sent)
            measure({reading, now});
    }
    const bool first = !last_;
    last_ = Known{reading, now};
    longest_ = std::max(longest_, static_cast<double>(reading.backlog));
    const bool waits = longest_ >= 1;
    if (first || (waits && rate_ == 0)) return most;
    const double link = speed == 0 ? unknown_rate : speed * 125e3;
    // A measured rate above the link's is a burst.
    const double rate = waits ? std::min(rate_, link) : link;
    const std::chrono::duration<double> time((longest_ * reserve + ring_bytes) / std::max(rate, 1e3));
    if (time >= most) return most;
    return std::min<std::chrono::nanoseconds>(
        most, margin + std::chrono::duration_cast<std::chrono::nanoseconds>(time));
}

} // namespace teamo
