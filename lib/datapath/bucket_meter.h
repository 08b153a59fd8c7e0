// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "model/balance.h"
#include "model/config.h"

#include <memory>

namespace teamo {

/// Counts the transmitted packets of each bucket on a device whose packets another datapath distributes
/// (bpf/meter.bpf.c). The program stays attached when this process ends.
class BucketMeter {
public:
    /// Loads the program and attaches it to the device's egress, replacing an older one.
    static Result<BucketMeter> open(IfIndex device);

    BucketMeter(BucketMeter&&) noexcept;
    BucketMeter& operator=(BucketMeter&&) noexcept;
    ~BucketMeter();

    /// Sets the fields of the hash.
    void set_fields(HashFields fields);
    Result<BucketCounters> read(std::uint8_t bucket) const;

private:
    struct Program;
    explicit BucketMeter(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

} // namespace teamo
