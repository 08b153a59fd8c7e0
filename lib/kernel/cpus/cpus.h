// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The machine's CPUs, their load, and those that a thread may use.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "model/machine.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// The machine's CPUs, from /sys/devices/system, the root cgroup and /proc/irq/default_smp_affinity. For an
/// offline CPU the kernel shows little more than its node; it gets a core and a cache of its own. `root`: the
/// directory that contains sys and proc.
Result<CpuTopology> read_cpu_topology(const std::string& root = "");

/// The CPUs that are online.
Result<CpuList> read_online_cpus(const std::string& root = "");

/// The CPU affinity of a thread, also beyond the 1024 CPUs of cpu_set_t. ESRCH: the thread is gone.
Result<CpuList> read_thread_affinity(pid_t thread);
/// ESRCH: the thread is gone. EINVAL: its cpuset has none of the CPUs, or the kernel does not allow it to
/// move. EPERM: another user's thread (CAP_SYS_NICE).
Result<> write_thread_affinity(pid_t thread, const CpuList& cpus);

/// The times of a CPU since boot, from /proc/stat, in ticks (USER_HZ, a hundredth of a second). Idle time is
/// measured with a clock on most kernels (tick_nohz_stop_idle); the others are counted at each timer tick.
struct CpuColumns {
    std::uint64_t user = 0; ///< includes nice
    std::uint64_t system = 0;
    std::uint64_t idle = 0; ///< includes iowait
    std::uint64_t irq = 0, softirq = 0, steal = 0;
    std::optional<std::chrono::nanoseconds> exact_idle{}; ///< where /proc/timer_list can be read
    bool operator==(const CpuColumns&) const = default;
};
/// By CPU number; online CPUs only.
using AllCpuColumns = std::map<unsigned, CpuColumns>;
/// Ignores other lines and additional columns.
AllCpuColumns parse_cpu_columns(std::string_view proc_stat);
Result<AllCpuColumns> read_cpu_columns();

/// Shares of the time between two readings, 0 to 1.
struct CpuLoad {
    double work = 0;       ///< user, system and stolen time
    double interrupts = 0; ///< hard and soft interrupts
    bool operator==(const CpuLoad&) const = default;
};
/// Zeros if no tick has passed. A counter that decreased counts as no time; idle time can when a CPU goes
/// offline and online.
CpuLoad load_between(const CpuColumns& earlier, const CpuColumns& later);

/// How long each CPU was idle since boot, from /proc/timer_list (kernel/time/timer_list.c), which root may
/// read. /proc/stat rounds the same clock down to hundredths of a second: in a round of a second on a CPU
/// that is busy for a tenth of it, that is an error of up to a tenth. Of a CPU that is idle now, up to a
/// timer tick is missing. CPUs without all of these values are left out.
std::map<unsigned, std::chrono::nanoseconds> parse_idle_times(std::string_view timer_list);

/// All online CPUs at one moment.
struct CpuReading {
    Clock::time_point at{};
    AllCpuColumns cpus{};
};
Result<CpuReading> read_cpus();

/// Seconds in which a CPU was neither idle nor stolen, never negative. They follow from the idle time: the
/// columns of busy time miss bursts shorter than a tick. Bursts of 100 us every 500 us, 20.6 % of a CPU by
/// the process's own clock, were 11.0 % by these columns and 21.4 % by idle time.
double busy_seconds(const CpuColumns& earlier, const CpuColumns& later, double elapsed,
                    long ticks_per_second);
/// The sum of the CPUs that were online at both moments.
double busy_seconds(const CpuReading& earlier, const CpuReading& later, long ticks_per_second);

/// What a CPU did, in seconds of its time.
struct CpuTime {
    double user = 0, system = 0, softirq = 0, irq = 0, idle = 0;
    double busy() const { return user + system + softirq + irq; }
    CpuTime& operator+=(const CpuTime& other) {
        user += other.user;
        system += other.system;
        softirq += other.softirq;
        irq += other.irq;
        idle += other.idle;
        return *this;
    }
    bool operator==(const CpuTime&) const = default;
};
/// Of each CPU that was online at both moments: busy_seconds(), divided as the ticks are.
std::map<unsigned, CpuTime> times_between(const CpuReading& earlier, const CpuReading& later,
                                          long ticks_per_second);

/// From the exact time if both have it.
double idle_seconds(const CpuColumns& earlier, const CpuColumns& later, long ticks_per_second);

/// Ticks in /proc, USER_HZ.
long ticks_per_second();

} // namespace teamo
