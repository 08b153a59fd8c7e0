// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/eventually.h"

namespace teamo::test {

/// Waits until the kernel's network lock (rtnl) is free, false where it is not within `patience`: the
/// namespaces that others leave are taken apart under it, for seconds, and every link event waits for it.
bool await_free_network_lock(milliseconds patience);

} // namespace teamo::test
