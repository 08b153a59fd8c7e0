// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/report.h"

namespace teamo::demo {

/// The CPU load of other programs. It increases the CPU cost and the losses that the demo measures, because
/// the demo measures the whole machine.
class OtherLoad {
public:
    /// Measures for a moment in which the demo itself is idle, and reports it.
    void look(const Report& report);
    /// Why a figure may miss its bound without a defect: how many CPUs other programs kept busy at most;
    /// empty if that is negligible.
    std::string excuse() const;

private:
    double most_ = 0;
};

} // namespace teamo::demo
