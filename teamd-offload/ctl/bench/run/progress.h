// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace teamo::ctl::bench {

/// "[#####-----] 12/24  1:05 left  team, 8 ports, both ways"; pure.
std::string progress_line(std::size_t done, std::size_t all, Clock::duration passed, std::string_view what);

/// On a terminal a bar that is drawn again, else a line for each step; to standard error.
class Progress {
public:
    Progress(std::size_t all, bool is_terminal) : all_(all), is_terminal_(is_terminal) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();
    /// The next step begins.
    void next(std::string_view what);

private:
    std::size_t all_, done_ = 0;
    bool is_terminal_;
    Clock::time_point start_ = Clock::now();
};

} // namespace teamo::ctl::bench
