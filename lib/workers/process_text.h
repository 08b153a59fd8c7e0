// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What /proc says of a process, taken apart. Processes choose much of it themselves: their name, their group.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

struct ProcessStat {
    std::string command;     ///< may hold anything, blanks and brackets too
    std::uint64_t ticks = 0; ///< CPU time of all its threads, in USER_HZ
    unsigned threads = 0;
    std::uint64_t started = 0; ///< in ticks since boot
    bool operator==(const ProcessStat&) const = default;
};
/// /proc/PID/stat, or that of a thread (proc(5)).
std::optional<ProcessStat> parse_stat(std::string_view text);

/// The effective user, from /proc/PID/status.
std::optional<uid_t> parse_user(std::string_view status);

/// The control group's path, from /proc/PID/cgroup: in the unified hierarchy, or where the process is at its
/// root, in the one that systemd has for itself on old machines. Empty: neither.
std::string parse_cgroup(std::string_view text);

/// The systemd unit of a control group: the first folder below the slices, as systemd finds it
/// (src/basic/cgroup-util.c: cg_path_decode_unit). Of a user's service it is that user's manager,
/// "user@1000.service". Empty: none.
std::string unit_of(std::string_view cgroup);

/// Whether the control group is the unit's own, and no part of what the unit divides among its processes
/// (Delegate=, a user's manager, containers).
bool is_own_group(std::string_view cgroup, std::string_view unit);

/// Of a control group's cgroup.stat: how many groups are below it. None: the text does not say.
std::optional<unsigned> parse_descendants(std::string_view cgroup_stat);

/// Mount points of the unified hierarchy in /proc/self/mountinfo, the latest first.
std::vector<std::string> parse_cgroup_mounts(std::string_view mountinfo);

} // namespace teamo
