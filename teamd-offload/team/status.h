// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/status.h"
#include "team/parts.h"

namespace teamo {

/// Everything that the state document shows.
TeamStatus status_of(TeamParts& parts);

} // namespace teamo
