// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>

namespace teamo::demo {

/// Busy time of all CPUs since its construction: of the demo, of the team, of softirqs and of all other
/// programs.
class CpuMeter {
public:
    CpuMeter();
    std::chrono::microseconds busy() const;

private:
    std::chrono::microseconds start_;
};

} // namespace teamo::demo
