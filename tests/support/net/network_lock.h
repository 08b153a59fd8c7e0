// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/eventually.h"

namespace teamo::test {

/// Waits until the kernel's network lock (rtnl) was free for so many looks in a row, two milliseconds apart;
/// false where it is not within `patience`. The namespaces of an earlier test are taken apart under it, for
/// seconds, and every link event waits for it.
bool await_free_network_lock(milliseconds patience, int looks = 20);

} // namespace teamo::test
