// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

namespace teamo {

/// Runs `load` in a thread of normal priority and returns what it returns. The verifier keeps a CPU busy for
/// some 40 ms: at the daemon's real-time priority the CPU would process no received packets meanwhile
/// (ksoftirqd has a normal one).
int load_at_normal_priority(const std::function<int()>& load);

} // namespace teamo
