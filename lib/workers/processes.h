// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A process as it is now, and its CPU time so far.
struct ProcessReading {
    Worker worker;
    std::uint64_t ticks = 0; ///< of all its threads, in USER_HZ (a hundredth of a second)
};

/// ESRCH: gone, or its number has another bearer since we began to read. `root`: where /proc is.
Result<ProcessReading> read_process(pid_t pid, const std::string& root = "");

/// Every process that /proc shows, by number.
std::vector<pid_t> all_processes(const std::string& root = "");

/// The numbers of the users that rules name, by that name. Who is missing is not known to this machine. May
/// ask a directory service: for the start, and not for every pass.
std::map<std::string, uid_t> resolve_users(std::span<const WorkerRule> rules);

} // namespace teamo
