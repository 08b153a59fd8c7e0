// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/other_work.h"
#include "demo/report.h"
#include "demo/stage.h"

namespace teamo::demo {

struct ThroughputLength {
    unsigned alone = cables; ///< so many cables are measured alone; the rest are taken to be like them
    int rounds = 5;
};

/// Four ports against each alone, TSO kept against TSO taken away.
void show_throughput(Report& report, OtherWork& others, const Stage& stage, const ThroughputLength& length);

} // namespace teamo::demo
