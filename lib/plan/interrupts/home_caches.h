// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports with several CPUs should have them behind one cache, and not all behind the same.
#pragma once

#include "plan/interrupts/assign_cpus.h"

namespace teamo {

/// Gives each taker of more than one CPU a home: the cache behind which most of its present CPUs are, else
/// the one of its node that has as much room left as it needs and little more.
void choose_homes(Assignment& assignment);

} // namespace teamo
