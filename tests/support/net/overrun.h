// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/net/net_ns.h"

namespace teamo::test {

/// Changes a device that concerns no team, until no event fits into the socket of a daemon that is stopped.
void overrun(const NetNs& in);

} // namespace teamo::test
