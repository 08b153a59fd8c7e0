// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CPUs are busy with, from /proc/stat.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string_view>

namespace teamo {

/// What a CPU has done since the machine started, in ticks (USER_HZ, a hundredth of a second).
struct CpuTimes {
    std::uint64_t work = 0;       ///< processes, the kernel on their behalf, and what a hypervisor took away
    std::uint64_t interrupts = 0; ///< hard and soft ones
    std::uint64_t idle = 0;       ///< waiting for disks included
    bool operator==(const CpuTimes&) const = default;
};
/// By CPU number; those online.
using AllCpuTimes = std::map<unsigned, CpuTimes>;

/// Shares of the time between two readings, 0 to 1.
struct CpuLoad {
    double work = 0, interrupts = 0;
    bool operator==(const CpuLoad&) const = default;
};
/// Zeros where no tick has gone by. A counter that went back (idle time may, when a CPU comes and goes)
/// counts as no time.
CpuLoad load_between(const CpuTimes& earlier, const CpuTimes& later);

/// Lines of other kinds, and numbers beyond those known, are passed over.
AllCpuTimes parse_cpu_times(std::string_view proc_stat);
Result<AllCpuTimes> read_cpu_times();

} // namespace teamo
