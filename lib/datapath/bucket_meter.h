// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "model/balance.h"
#include "model/config.h"

#include <memory>

namespace teamo {

/// Counts what leaves by each bucket on a device whose packets somebody else spreads (bpf/meter.bpf.c). It
/// stays on the device when this process ends.
class BucketMeter {
public:
    /// Loads the program and hangs it on the device's egress, in place of an older one.
    static Result<BucketMeter> open(IfIndex device);

    BucketMeter(BucketMeter&&) noexcept;
    BucketMeter& operator=(BucketMeter&&) noexcept;
    ~BucketMeter();

    /// By which hash it counts from now on.
    void set_fields(HashFields fields);
    Result<BucketCounters> read(std::uint8_t bucket) const;

private:
    struct Program;
    explicit BucketMeter(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

} // namespace teamo
