// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/other_work.h"
#include "demo/report.h"
#include "demo/stage.h"

namespace teamo::demo {

struct ThroughputLength {
    unsigned alone = cables; ///< cables to measure alone; the others are assumed to be equal
    int rounds = 5;
};

/// Compares four ports with each alone, and TSO with no TSO.
void show_throughput(Report& report, OtherLoad& others, const Stage& stage, const ThroughputLength& length);

} // namespace teamo::demo
