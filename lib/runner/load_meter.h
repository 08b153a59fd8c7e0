// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "model/balance.h"
#include <chrono>
#include <optional>
namespace teamo {
class LoadMeter {
public:
    explicit LoadMeter(std::chrono::milliseconds) {}
    BucketLoads step(const AllBucketCounters& c, std::chrono::steady_clock::time_point now) {
        BucketLoads l{};
        if (at_) { double s = std::chrono::duration<double>(now - *at_).count();
            for (size_t b = 0; b < 256; ++b) l[b] = {double(c[b].bytes - last_[b].bytes)/s, double(c[b].packets-last_[b].packets)/s, double(c[b].gso_bytes-last_[b].gso_bytes)/s}; }
        last_ = c; at_ = now; return l; }
private:
    AllBucketCounters last_{};
    std::optional<std::chrono::steady_clock::time_point> at_;
};
}
