// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/status.h"

namespace teamo {

/// The device's own counters since it was created (IFLA_STATS64). A card counts packets on the wire: a GSO
/// packet counts as its segments.
Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index);

} // namespace teamo
