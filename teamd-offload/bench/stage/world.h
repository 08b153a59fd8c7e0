// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A process with process, mount and network namespaces of its own. When its parent ends, also by kill -9, the
// kernel ends this process and all others in its namespaces, and with them their devices and settings.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace teamo::bench {

/// SIGINT, SIGTERM and SIGHUP without those that this process ignores, as under nohup(1). A signal that is
/// blocked is queued also if it is ignored (kernel/signal.c: sig_ignored), so these must not be blocked.
std::vector<int> ending_signals();

/// Runs `work` in such a process, and returns what it returns. The ending signals end that process first and
/// then this one, as without a handler. EPERM: needs root.
Result<std::string> in_own_world(const std::function<Result<std::string>()>& work);

} // namespace teamo::bench
