// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sched.h>

#include <cstddef>

namespace teamo::test {

/// Keeps the thread on the CPU where it is, and with it those that it makes meanwhile.
class OneCpu {
public:
    OneCpu() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    OneCpu(const OneCpu&) = delete;
    OneCpu& operator=(const OneCpu&) = delete;
    ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_{};
};

} // namespace teamo::test
