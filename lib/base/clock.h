// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace teamo {

/// The clock of every delay and deadline (CLOCK_MONOTONIC). Pure functions get the time as an argument.
using Clock = std::chrono::steady_clock;

/// The earlier of two deadlines; none is later than all.
inline std::optional<Clock::time_point> earlier(std::optional<Clock::time_point> one,
                                                std::optional<Clock::time_point> other) {
    return !one || (other && *other < *one) ? other : one;
}

/// The pause before another attempt: `first`, doubled for each of `times` before it, at most `longest`.
constexpr std::chrono::milliseconds growing_pause(std::chrono::milliseconds first, unsigned times,
                                                  std::chrono::milliseconds longest) {
    constexpr unsigned enough = 20; // a million times the first
    return std::min(first * (1U << std::min(times, enough)), longest);
}

} // namespace teamo
