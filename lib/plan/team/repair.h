// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When to attempt again what the kernel refused (Patience) or another program has changed (Repair).
#pragma once

#include "base/clock.h"

#include <algorithm>
#include <optional>

namespace teamo {

/// When to retry what the kernel refused. The delay doubles each time; after a refusal that does not pass by
/// itself it is the longest from the start (lasting()).
class Patience {
public:
    using Time = Clock::time_point;

    static constexpr std::chrono::milliseconds first{20}, longest{30'000};
    static constexpr unsigned many =
        8; ///< limit for attempts that do harm; the last is 2.5 s after the first

    static Patience lasting() {
        Patience patience;
        patience.wait_ = longest;
        return patience;
    }

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

/// When to repair a setting that another program changed: the first times at once, then with growing pauses.
/// After the last attempt the other program's value stays: two programs do not undo each other for ever.
class Repair {
public:
    using Time = Clock::time_point;

    static constexpr unsigned at_once = 8;               ///< attempts without a pause
    static constexpr unsigned most = 15;                 ///< attempts before it gives up
    static constexpr std::chrono::seconds first_wait{1}; ///< the first pause; doubled each time
    static constexpr std::chrono::minutes peace{10};     ///< without a repair; then attempts count from 0

    enum class Act {
        nothing, ///< the value is right, or a pause is not over, or it has given up
        attempt, ///< repair now
        give_up, ///< once, after the last attempt was undone
    };
    /// `wrong`: the value is not the wanted one.
    Act step(bool wrong, Time now);

    /// When to call step() again even without an event.
    std::optional<Time> deadline() const { return waits_ ? std::optional(next_) : std::nullopt; }
    bool has_given_up() const { return given_up_; }

private:
    unsigned attempts_ = 0;
    Time last_, next_;
    bool waits_ = false, given_up_ = false;
};

inline Repair::Act Repair::step(bool wrong, Time now) {
    waits_ = false;
    if (!wrong) {
        given_up_ = false; // repaired by another program
        return Act::nothing;
    }
    if (given_up_) return Act::nothing;
    if (attempts_ > 0 && now - last_ >= peace) attempts_ = 0;
    if (attempts_ > 0 && now < next_) {
        waits_ = true;
        return Act::nothing;
    }
    if (attempts_ == most) {
        given_up_ = true;
        attempts_ = 0;
        return Act::give_up;
    }
    ++attempts_;
    last_ = next_ = now;
    if (attempts_ >= at_once) next_ += first_wait * (1U << (attempts_ - at_once));
    return Act::attempt;
}

} // namespace teamo
