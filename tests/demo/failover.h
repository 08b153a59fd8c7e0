// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/other_work.h"
#include "demo/report.h"
#include "demo/stage.h"

namespace teamo::demo {

struct FailoverLength {
    unsigned clients = 4; ///< whose cables are pulled, one client after the other
    unsigned pulls = 4;   ///< of the cable of each
};

/// Cables pulled under traffic and put back.
void show_failover(Report& report, OtherWork& others, const Stage& stage, const FailoverLength& length);

} // namespace teamo::demo
