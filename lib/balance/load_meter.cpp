// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/load_meter.h"

#include <cmath>

namespace teamo {
namespace {

/// Bytes/s; less counts as zero, because exponential smoothing never reaches it.
constexpr double least_load = 1;

bool went_backwards(const AllBucketCounters& before, const AllBucketCounters& now) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (now[bucket].bytes < before[bucket].bytes || now[bucket].packets < before[bucket].packets ||
            now[bucket].gso_bytes < before[bucket].gso_bytes)
            return true;
    return false;
}

double smoothed(double before, std::uint64_t more, double seconds, double weight) {
    return before + weight * (static_cast<double>(more) / seconds - before);
}

} // namespace

BucketLoads LoadMeter::step(const AllBucketCounters& counters, Time now) {
    if (!last_ || went_backwards(last_->counters, counters)) {
        last_ = Known{counters, now};
        measured_ = false;
        return loads_ = {};
    }
    const double seconds = std::chrono::duration<double>(now - last_->at).count();
    if (seconds <= 0) return loads_;
    const bool smooths = measured_ && constant_.count() > 0;
    const double weight = smooths ? 1 - std::exp(-seconds / constant_.count()) : 1;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto &before = last_->counters[bucket], &after = counters[bucket];
        auto& load = loads_[bucket];
        load.bytes = smoothed(load.bytes, after.bytes - before.bytes, seconds, weight);
        load.packets = smoothed(load.packets, after.packets - before.packets, seconds, weight);
        load.bulk = smoothed(load.bulk, after.gso_bytes - before.gso_bytes, seconds, weight);
        if (load.bytes < least_load && after.bytes == before.bytes) load = {};
    }
    measured_ = true;
    last_ = Known{counters, now};
    return loads_;
}

} // namespace teamo
