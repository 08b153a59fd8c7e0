// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpu_time.h"

#include "kernel/files/files.h"

#include <unistd.h>

#include <charconv>

namespace teamo {
namespace {

// Documentation/filesystems/proc.rst: user nice system idle iowait irq softirq steal, then guest times, which
// user and nice include.
constexpr int column_count = 8, idle_column = 3, iowait_column = 4;

} // namespace

Result<std::chrono::microseconds> parse_busy_time(std::string_view stat, long ticks_per_second) {
    constexpr std::string_view head = "cpu ";
    if (!stat.starts_with(head) || ticks_per_second <= 0)
        return fail(EBADMSG, "/proc/stat: no line for all CPUs");
    const auto* at = stat.data() + head.size();
    const auto* const end = stat.data() + stat.size();
    std::int64_t busy = 0;
    for (int column = 0; column < column_count; ++column) {
        while (at != end && *at == ' ')
            ++at;
        std::int64_t ticks = 0;
        const auto [stop, error] = std::from_chars(at, end, ticks);
        if (error != std::errc{}) return fail(EBADMSG, "/proc/stat: too few columns");
        at = stop;
        if (column != idle_column && column != iowait_column) busy += ticks;
    }
    return std::chrono::microseconds(busy * 1'000'000 / ticks_per_second);
}

Result<std::chrono::microseconds> read_busy_time() {
    // The line of interrupts can be long on a large machine.
    const auto stat = read_file("/proc/stat", std::size_t{16} << 20);
    if (!stat) return tl::unexpected(stat.error());
    return parse_busy_time(*stat, ::sysconf(_SC_CLK_TCK));
}

} // namespace teamo
