// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/run/peer.h"

namespace teamo::bench {

/// The team of that name, as its daemon and its ports show it.
Result<RunningTeam> running_team(const std::string& name);

} // namespace teamo::bench
