// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/bench/results.h"

namespace teamo::ctl::bench {

/// The machine of this process, without what is about the ports.
Machine read_machine();

} // namespace teamo::ctl::bench
