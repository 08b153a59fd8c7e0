// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When to put right what somebody else has changed: at once, some times over. But two programs that each undo
// what the other does would do so for ever, so each further time waits longer, and in the end it is left as
// the other one wants it.
#pragma once

#include <chrono>
#include <optional>

namespace teamo {

class Repair {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr unsigned at_once = 8;               ///< attempts that do not wait
    static constexpr unsigned most = 15;                 ///< attempts, before it is left as it is
    static constexpr std::chrono::seconds first_wait{1}; ///< before the first that waits; then doubled
    static constexpr std::chrono::minutes peace{10};     ///< after which what was is forgotten

    enum class Act {
        nothing, ///< right as it is, or not yet, or given up
        attempt, ///< put it right
        give_up, ///< said once, when all attempts were undone
    };
    /// `wrong`: it is not as it shall be.
    Act step(bool wrong, Time now);

    /// When to step again although nothing happens.
    std::optional<Time> deadline() const { return waits_ ? std::optional(next_) : std::nullopt; }

private:
    unsigned attempts_ = 0;
    Time last_, next_;
    bool waits_ = false, given_up_ = false;
};

} // namespace teamo
