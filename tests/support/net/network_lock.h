// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/eventually.h"

namespace teamo::test {

/// Waits until the kernel's network lock (rtnl) was free for this many polls in a row, 2 ms apart; false if
/// that does not happen within `patience`. The kernel removes the namespaces of earlier tests under it, for
/// seconds, and every link event waits for it.
bool await_free_network_lock(milliseconds patience, int looks = 20);

} // namespace teamo::test
