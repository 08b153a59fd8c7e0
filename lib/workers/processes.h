// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Processes and their control groups. Files of /proc/PID are untrusted input: processes choose their own name
// and control group.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// A process now, and its CPU time so far.
struct ProcessReading {
    Worker worker;
    std::uint64_t ticks = 0; ///< of all its threads, in USER_HZ (a hundredth of a second)
};

/// ESRCH: the process is gone, or another process got its PID while we read. `root`: the directory that
/// contains proc.
Result<ProcessReading> read_process(pid_t pid, const std::string& root = "");

/// The user IDs for the user names in rules, without unknown names. May ask a directory service, and wait
/// for it: not in the daemon's loop.
std::map<std::string, uid_t> resolve_users(std::span<const WorkerRule> rules);

/// The CPUs of each process's cpuset: in the unified hierarchy, or in that of cgroup v1 at its usual place.
/// Reads each cpuset once, so make one for each window. `root`: the directory that contains proc and sys.
class Cpusets {
public:
    explicit Cpusets(std::string root = "") : root_(std::move(root)) {}

    /// Empty: not known. `own`: the cpuset is that of a unit whose AllowedCPUs= we have set; what it was
    /// before (empty: all CPUs) limits the process.
    CpuList of(pid_t pid, const UnitBinding* own = nullptr);

private:
    CpuList effective(const std::string& path);

    std::string root_;
    std::map<std::string, CpuList> known_; ///< by path in the hierarchy
};

/// The path of the unified hierarchy's root, from /proc/self/mountinfo. ENOENT: not mounted, or not
/// reachable.
Result<std::string> find_unified_cgroup();

// ---- pure ----------------------------------------------------------------------------------------

/// The effective user, from /proc/PID/status.
std::optional<uid_t> parse_user(std::string_view status);

/// The control group's path, from /proc/PID/cgroup: in the unified hierarchy, or if the process is in its
/// root there, in systemd's own hierarchy (cgroup v1). Empty: neither.
std::string parse_cgroup(std::string_view text);

/// The systemd unit of a control group: the first folder below the slices, as in systemd
/// (src/basic/cgroup-util.c: cg_path_decode_unit). For a user's service this is the user's manager,
/// "user@1000.service". Empty: none.
std::string unit_of(std::string_view cgroup);

/// True if the control group is that of the unit itself, not a subgroup (Delegate=, a user's manager,
/// containers).
bool is_own_group(std::string_view cgroup, std::string_view unit);

/// The number of descendant groups, from cgroup.stat. None if the text does not have it.
std::optional<unsigned> parse_descendants(std::string_view cgroup_stat);

/// Mount points of the unified hierarchy in /proc/self/mountinfo, the latest first.
std::vector<std::string> parse_cgroup_mounts(std::string_view mountinfo);

} // namespace teamo
