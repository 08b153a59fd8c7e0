// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When to repair a setting that another program changed: the first times at once, then with growing pauses.
// After the last attempt the other program's value stays, so that two programs do not undo each other for
// ever.
#pragma once

#include <chrono>
#include <optional>

namespace teamo {

class Repair {
public:
    using Time = std::chrono::steady_clock::time_point;

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

private:
    unsigned attempts_ = 0;
    Time last_, next_;
    bool waits_ = false, given_up_ = false;
};

} // namespace teamo
