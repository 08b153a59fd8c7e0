// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <map>
#include <span>
#include <string>
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

/// The user IDs for the user names in rules, without unknown names. May ask a directory service, so call it
/// only at the start, not in every pass.
std::map<std::string, uid_t> resolve_users(std::span<const WorkerRule> rules);

} // namespace teamo
