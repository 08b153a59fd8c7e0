// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "model/balance.h"
#include "model/config.h"

#include <memory>

struct teamo_meter; // NOLINT(readability-identifier-naming): of the skeleton, in C

namespace teamo {

class DevicePrograms;

/// Counts the transmitted packets of each bucket on a device whose packets another datapath distributes
/// (bpf/meter.bpf.c). The program stays attached when this process ends.
class BucketMeter {
public:
    /// Loads the program and attaches it to the device's egress, replacing an older one.
    static Result<BucketMeter> open(IfIndex device, DevicePrograms& hooks);

    /// Sets the fields of the hash.
    void set_fields(HashFields fields);
    Result<BucketCounters> read(std::uint8_t bucket) const;
    Result<AllBucketCounters> read_all() const;

private:
    explicit BucketMeter(teamo_meter* skeleton) : skeleton_(skeleton) {}
    struct Destroy {
        void operator()(teamo_meter* skeleton) const noexcept;
    };
    std::unique_ptr<teamo_meter, Destroy> skeleton_;
};

/// The counters of one bucket, summed over all CPUs; `map` is a program's "teamo_bucket_counters"
/// (bpf/abi.h).
Result<BucketCounters> read_bucket_counters(int map, std::uint8_t bucket);
Result<AllBucketCounters> read_all_bucket_counters(int map);

} // namespace teamo
