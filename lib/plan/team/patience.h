// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When to try again what the kernel refused and may do later: soon, and then after twice as long each time.
// (What somebody else undoes is another matter: repair.h.)
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace teamo {

class Patience {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::milliseconds first{20}, longest{30'000};
    static constexpr unsigned many = 8; ///< five seconds: for what does harm each time that it is tried

    /// It was refused, once more.
    void refused(Time now) {
        wait_ = wait_ == std::chrono::milliseconds::zero() ? first : std::min(2 * wait_, longest);
        next_ = now + wait_;
        ++times_;
    }
    unsigned times() const { return times_; }
    bool is_over(Time now) const { return now >= next_; }
    Time next() const { return next_; }

private:
    std::chrono::milliseconds wait_{0};
    Time next_{};
    unsigned times_ = 0;
};

/// After a refusal: what may pass is waited for, longer each time; what may not is not tried again.
inline void await_passing(std::optional<Patience>& patience, bool may_pass, Patience::Time now) {
    if (!may_pass) return patience.reset();
    if (!patience) patience.emplace();
    patience->refused(now);
}

} // namespace teamo
