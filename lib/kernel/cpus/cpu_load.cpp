// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpu_load.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <unistd.h>

#include <array>
#include <optional>

namespace teamo {
namespace {

/// The columns of a line "cpuN …" in their order (proc(5)); guest time is contained in user and nice.
enum Column : std::size_t { user, nice, system, idle, iowait, irq, softirq, steal, columns };

/// `columns_text`: a line without its head "cpu" or "cpuN". None if it has too few columns.
std::optional<CpuTimes> parse_columns(std::string_view columns_text) {
    std::array<std::uint64_t, columns> counted{};
    for (auto& one : counted) {
        while (columns_text.starts_with(' '))
            columns_text.remove_prefix(1);
        const auto number = whole_number<std::uint64_t>(take_until(columns_text, " \n"));
        if (!number) return std::nullopt;
        one = *number;
    }
    return CpuTimes{.work = counted[user] + counted[nice] + counted[system] + counted[steal],
                    .interrupts = counted[irq] + counted[softirq],
                    .idle = counted[idle] + counted[iowait]};
}

void take_line(std::string_view line, AllCpuTimes& times) {
    if (!line.starts_with("cpu")) return;
    line.remove_prefix(3);
    if (line.starts_with(' ')) return; // the line of all CPUs together
    const auto cpu = whole_number<unsigned>(take_until(line, " "));
    const auto counted = cpu ? parse_columns(line) : std::nullopt;
    if (counted) times[*cpu] = *counted;
}

// The line of interrupts can be long on a large machine.
Result<std::string> read_proc_stat() { return read_file("/proc/stat", std::size_t{16} << 20); }

} // namespace

CpuLoad load_between(const CpuTimes& earlier, const CpuTimes& later) {
    const auto passed = [](std::uint64_t from, std::uint64_t to) {
        return to > from ? static_cast<double>(to - from) : 0;
    };
    const double work = passed(earlier.work, later.work),
                 interrupts = passed(earlier.interrupts, later.interrupts),
                 all = work + interrupts + passed(earlier.idle, later.idle);
    if (all <= 0) return {};
    return {.work = work / all, .interrupts = interrupts / all};
}

AllCpuTimes parse_cpu_times(std::string_view proc_stat) {
    AllCpuTimes times;
    while (!proc_stat.empty())
        take_line(take_until(proc_stat, "\n"), times);
    return times;
}

Result<AllCpuTimes> read_cpu_times() { return parse_cpu_times(TEAMO_TRY(read_proc_stat())); }

Result<std::chrono::microseconds> parse_busy_time(std::string_view proc_stat, long ticks_per_second) {
    constexpr std::string_view head = "cpu ";
    const auto all =
        proc_stat.starts_with(head) ? parse_columns(proc_stat.substr(head.size())) : std::nullopt;
    if (!all || ticks_per_second <= 0) return fail(EBADMSG, "/proc/stat: no valid line for all CPUs");
    const auto busy = static_cast<std::int64_t>(all->work + all->interrupts);
    return std::chrono::microseconds(busy * 1'000'000 / ticks_per_second);
}

Result<std::chrono::microseconds> read_busy_time() {
    return parse_busy_time(TEAMO_TRY(read_proc_stat()), ::sysconf(_SC_CLK_TCK));
}

} // namespace teamo
