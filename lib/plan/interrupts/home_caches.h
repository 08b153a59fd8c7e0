// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Selects a cache for each port with several CPUs: the CPUs of a port should share one, and the ports should
// not all use the same one.
#pragma once

#include "plan/interrupts/assign_cpus.h"

namespace teamo {

/// Sets `home` of each taker of more than one CPU: the cache of most of its present CPUs, else the cache of
/// its node with the smallest number of free cores that is enough.
void choose_homes(Assignment& assignment);

} // namespace teamo
