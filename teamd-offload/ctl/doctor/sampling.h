// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/report/state.h"
#include "ctl/session.h"

namespace teamo::ctl {

/// Two states a second apart, and the rates between them.
struct Sample {
    TeamState before, state;
    std::chrono::duration<double> between{0}; ///< the two states
    Rates rates;
};

/// Takes a second. Does not use the daemon's own rates: they are as old as its interval.
Result<Sample> take_sample(Session& session);

} // namespace teamo::ctl
