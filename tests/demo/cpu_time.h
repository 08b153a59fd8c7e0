// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>

namespace teamo::demo {

/// What all CPUs of this machine together have worked since it was made: theirs who measure and theirs who
/// are measured, softirqs, and whoever else is at work.
class CpuMeter {
public:
    CpuMeter();
    std::chrono::microseconds busy() const;

private:
    std::chrono::microseconds start_;
};

} // namespace teamo::demo
