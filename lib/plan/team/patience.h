// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Back-off after passing failures: when to retry what the kernel refused. The delay doubles each time.
// (repair.h is for settings that another program changes.)
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace teamo {

class Patience {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::milliseconds first{20}, longest{30'000};
    static constexpr unsigned many = 8; ///< limit for attempts that do harm; reached after 5 s

    /// Reports another refusal.
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

/// After a refusal: schedules the next attempt for a passing failure (`may_pass`), else clears the schedule.
inline void await_passing(std::optional<Patience>& patience, bool may_pass, Patience::Time now) {
    if (!may_pass) return patience.reset();
    if (!patience) patience.emplace();
    patience->refused(now);
}

} // namespace teamo
