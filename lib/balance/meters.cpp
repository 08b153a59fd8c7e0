// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/meters.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace teamo {
namespace {

/// Bytes/s; less counts as zero, because exponential smoothing never reaches it.
constexpr double least_load = 1;

double smoothed(double before, std::uint64_t more, double seconds, double weight) {
    return before + weight * (static_cast<double>(more) / seconds - before);
}

/// The card's ring, which no qdisc counts; byte queue limits keep it to a few packets of the largest size.
constexpr double ring_bytes = 2 * 65536;
/// For the receiver: two ports end in two receive queues, whose CPUs need not run at the same time.
constexpr std::chrono::milliseconds margin{2}, most{500};
constexpr double unknown_rate = 125e6; // 1 Gbit/s
constexpr double half_life = 0.1;      // seconds
/// A queue can grow between two readings.
constexpr double reserve = 1.5;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

const BucketLoads& LoadMeter::step(const AllBucketCounters& counters, Time now) {
    const auto went_backwards = [](const Counted& was, const BucketCounters& is) {
        return is.bytes < was.bytes || is.packets < was.packets || is.gso_bytes < was.bulk;
    };
    bool is_first = !last_at_;
    for (std::size_t bucket = 0; !is_first && bucket < bucket_count; ++bucket)
        is_first = went_backwards(last_[bucket], counters[bucket]);
    const double seconds = is_first ? 0 : seconds_between(*last_at_, now);
    if (is_first)
        loads_ = {};
    else if (seconds <= 0)
        return loads_;
    const bool smooths = measured_ && constant_.count() > 0;
    const double weight = smooths ? 1 - std::exp(-seconds / constant_.count()) : 1;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto& after = counters[bucket];
        const auto before = std::exchange(last_[bucket], {after.bytes, after.packets, after.gso_bytes});
        if (is_first) continue;
        auto& load = loads_[bucket];
        load.bytes = smoothed(load.bytes, after.bytes - before.bytes, seconds, weight);
        load.packets = smoothed(load.packets, after.packets - before.packets, seconds, weight);
        load.bulk = smoothed(load.bulk, after.gso_bytes - before.bulk, seconds, weight);
        if (load.bytes < least_load && after.bytes == before.bytes) load = {};
    }
    measured_ = !is_first;
    last_at_ = now;
    return loads_;
}

/// Measures the rate between two readings with sent packets while the queue was never empty, so that it
/// drained at its full rate. From any other start the rate would seem higher: a packet of 64 KiB leaves a
/// slow shaper only every tenth reading.
void DrainBound::measure(const Known& now) {
    if (left_) {
        const double seconds = seconds_between(left_->at, now.at);
        const double measured = static_cast<double>(now.reading.sent - left_->reading.sent) / seconds;
        rate_ = rate_ == 0 ? measured : (rate_ + measured) / 2;
    }
    left_ = now;
}

std::chrono::nanoseconds DrainBound::step(const QueueCounters& reading, std::uint32_t speed, Time now) {
    if (last_ && now > last_->at) {
        const double seconds = seconds_between(last_->at, now);
        longest_ *= std::exp2(-seconds / half_life);
        // Sent less than before: another queue.
        if (last_->reading.backlog == 0 || reading.backlog == 0 || reading.sent < last_->reading.sent)
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
