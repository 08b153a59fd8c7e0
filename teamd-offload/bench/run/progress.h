// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "bench/run/plan.h"

#include <string>
#include <string_view>

namespace teamo::bench {

/// "[#####-----] 12/24  1:05 left  team, 8 ports, both ways"; pure. What the steps took beyond their planned
/// time, such as connections and stages, each step to come takes too.
std::string progress_line(const Steps& done, const Steps& left, Clock::duration passed,
                          std::string_view what);

/// On a terminal a bar that is drawn again, else a line for each step; to standard error.
class Progress {
public:
    explicit Progress(bool is_terminal) : is_terminal_(is_terminal) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();
    /// The next step begins. It is one of those that are left.
    void next(const Steps& done, const Steps& left, std::string_view what);

private:
    bool is_terminal_, is_shown_ = false;
    Clock::time_point start_ = Clock::now();
};

} // namespace teamo::bench
