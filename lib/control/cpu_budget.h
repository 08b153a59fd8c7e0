// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CPU time that may be spent, and comes back with time: a token bucket. Pure.
#pragma once

#include "base/clock.h"

#include <algorithm>
#include <chrono>

namespace teamo::control {

class CpuBudget {
public:
    using Time = Clock::time_point;

    struct Limits {
        std::chrono::nanoseconds at_once; ///< what a full budget has
        int percent;                      ///< of a CPU: what comes back
    };
    explicit constexpr CpuBudget(Limits limits) : limits_(limits) {}

    /// May exceed what is left: the rest is owed.
    void spend(std::chrono::nanoseconds cpu, Time now) {
        full_at_ = std::max(full_at_, now) + returns_in(cpu);
    }
    /// From when on nothing is owed; not later than now: something may be spent.
    Time ready() const { return full_at_ - returns_in(limits_.at_once); }
    bool is_full(Time now) const { return full_at_ <= now; }

private:
    std::chrono::nanoseconds returns_in(std::chrono::nanoseconds cpu) const {
        return cpu * 100 / limits_.percent;
    }

    Limits limits_;
    Time full_at_{}; ///< the only state: what is missing now is what comes back until then
};

} // namespace teamo::control
