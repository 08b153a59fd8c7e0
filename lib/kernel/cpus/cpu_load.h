// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The load of the CPUs, from /proc/stat.
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>

namespace teamo {

/// The times of a CPU since boot, in ticks (USER_HZ, a hundredth of a second).
struct CpuTimes {
    std::uint64_t work = 0;       ///< user, system and stolen time
    std::uint64_t interrupts = 0; ///< hard and soft interrupts
    std::uint64_t idle = 0;       ///< includes iowait
    bool operator==(const CpuTimes&) const = default;
};
/// By CPU number; online CPUs only.
using AllCpuTimes = std::map<unsigned, CpuTimes>;

/// Shares of the time between two readings, 0 to 1.
struct CpuLoad {
    double work = 0, interrupts = 0;
    bool operator==(const CpuLoad&) const = default;
};
/// Zeros if no tick has passed. A counter that decreased counts as no time; idle time can when a CPU goes
/// offline and online.
CpuLoad load_between(const CpuTimes& earlier, const CpuTimes& later);

/// Ignores other lines and additional columns.
AllCpuTimes parse_cpu_times(std::string_view proc_stat);
Result<AllCpuTimes> read_cpu_times();

/// The time of all CPUs together since boot, without idle time.
Result<std::chrono::microseconds> parse_busy_time(std::string_view proc_stat, long ticks_per_second);
Result<std::chrono::microseconds> read_busy_time();

} // namespace teamo
