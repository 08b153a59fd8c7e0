// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernel/cpus/cpus.h"

#include <chrono>

namespace teamo::test {

/// Busy time of all CPUs since its construction: of the test, of the team, of softirqs and of all other
/// programs.
class CpuMeter {
public:
    CpuMeter();
    std::chrono::microseconds busy() const;

private:
    CpuReading start_;
};

} // namespace teamo::test
