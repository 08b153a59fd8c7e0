// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The LACP of the kernel's bonding (mode 802.3ad), as the machines of this folder show theirs.
#pragma once

#include "model/lacp.h"

namespace teamo::lacp {

/// `has_link`: of the port. `carries`: bonding sends by it.
PortStatus status_of(const BondSystem& bond, const BondPort& port, bool has_link, bool carries);

} // namespace teamo::lacp
