// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/process.h"

#include <fmt/format.h>

#include <sched.h>

#include <vector>

namespace teamo::test {

/// Binds the calling thread, and the threads and processes that it starts, to one CPU while this value lives.
/// Throws SetupError if that is not allowed.
class OnCpu {
public:
    explicit OnCpu(unsigned cpu) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(cpu, &only);
        if (sched_setaffinity(0, sizeof only, &only) < 0)
            throw SetupError(fmt::format("cannot run on CPU {}", cpu));
    }
    OnCpu(const OnCpu&) = delete;
    OnCpu& operator=(const OnCpu&) = delete;
    ~OnCpu() { sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_{};
};

/// The CPUs that the calling thread may use.
inline std::vector<unsigned> usable_cpus() {
    cpu_set_t set;
    std::vector<unsigned> cpus;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

} // namespace teamo::test
