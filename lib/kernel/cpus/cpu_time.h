// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <chrono>
#include <string_view>

namespace teamo {

/// The busy time of all CPUs together since boot, including softirqs and stolen time, from the text of
/// /proc/stat. Resolution: a tick of USER_HZ (10 ms) for each CPU.
Result<std::chrono::microseconds> parse_busy_time(std::string_view stat, long ticks_per_second);

Result<std::chrono::microseconds> read_busy_time();

} // namespace teamo
