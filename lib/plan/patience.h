// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When to try again what the kernel refused and may do later: soon, and then after twice as long each time.
// (What somebody else undoes is another matter: repair.h.)
#pragma once

#include <algorithm>
#include <chrono>

namespace teamo {

class Patience {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::milliseconds first{20}, longest{30'000};

    /// It was refused, once more.
    void refused(Time now) {
        wait_ = wait_ == std::chrono::milliseconds::zero() ? first : std::min(2 * wait_, longest);
        next_ = now + wait_;
    }
    bool is_over(Time now) const { return now >= next_; }
    Time next() const { return next_; }

private:
    std::chrono::milliseconds wait_{0};
    Time next_{};
};

} // namespace teamo
