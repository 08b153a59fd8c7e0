// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Searches for the fewest moves that even out the loads (balancer.cpp).
#pragma once

#include "balance/bulk.h"
#include "balance/placement_draft.h"

namespace teamo {

/// Brings every port that is above its fair share by more than policy.tolerance of the mean down to
/// policy.target, as far as single moves and swaps of two buckets can. `gathered`: ports that have just got
/// bulk.
void rebalance(PlacementDraft& draft, const PortClasses& classes, const BalancePolicy& policy,
               SlotSet gathered);

} // namespace teamo
