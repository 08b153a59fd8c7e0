// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/status.h"

namespace teamo {

/// What the device itself has counted since it was made (IFLA_STATS64). A card counts what was on the wire,
/// so that a GSO packet is as many as it was cut into.
Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index);

} // namespace teamo
