// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/report/load.h"
#include "ctl/session.h"

namespace teamo::ctl {

/// A state, and what changed in the second before it.
struct Sample {
    TeamState before, state;
    std::chrono::duration<double> between{0}; ///< the two
    Rates rates;
};

/// Takes a second. It is measured anew, since the daemon's own figures are as old as its interval.
Result<Sample> take_sample(Session& session);

} // namespace teamo::ctl
