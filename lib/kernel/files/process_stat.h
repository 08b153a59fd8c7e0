// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

struct ProcessStat {
    std::string command;     ///< may contain any character, also blanks and parentheses
    std::uint64_t ticks = 0; ///< CPU time of all its threads, in USER_HZ
    unsigned threads = 0;
    std::uint64_t started = 0; ///< in ticks since boot
    bool operator==(const ProcessStat&) const = default;
};

/// Parses /proc/PID/stat, or that of a thread (proc(5)). Untrusted input: processes choose their own name.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// `folder`: "/proc/PID" or "/proc/PID/task/TID". None: no such process or thread.
std::optional<ProcessStat> read_process_stat(const std::string& folder);

/// When a process or thread started, because PIDs are reused; in ticks since boot. None: as above.
std::optional<std::uint64_t> read_start_time(const std::string& folder);

} // namespace teamo
