// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a process has used so far.
#pragma once

#include "support/daemon/process.h"

#include <ctime>
#include <fstream>
#include <string>

namespace teamo::test {

/// With all its threads. 0: the process is gone.
inline std::chrono::nanoseconds cpu_time(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// How often its first thread went to sleep.
inline long sleeps(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    long times = 0;
    for (std::string word; status >> word;)
        if (word == "voluntary_ctxt_switches:" && status >> times) return times;
    throw SetupError("no process");
}

} // namespace teamo::test
