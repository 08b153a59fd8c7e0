// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <chrono>
#include <string_view>

namespace teamo {

/// What all CPUs together have worked since the machine started, softirqs and stolen time included, of the
/// text of /proc/stat. Its grain is a tick of USER_HZ (10 ms) for each CPU.
Result<std::chrono::microseconds> parse_busy_time(std::string_view stat, long ticks_per_second);

Result<std::chrono::microseconds> read_busy_time();

} // namespace teamo
