// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/other_work.h"
#include "demo/report.h"
#include "demo/stage.h"

namespace teamo::demo {

struct FailoverLength {
    unsigned clients = 4; ///< pull the cables to this many clients, one after the other
    unsigned pulls = 4;   ///< for each client
};

/// Pulls cables under traffic and plugs them in again.
void show_failover(Report& report, OtherLoad& others, const Stage& stage, const FailoverLength& length);

} // namespace teamo::demo
