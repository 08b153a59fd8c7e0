// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink_socket.h"
#include "model/queue.h"

namespace teamo {

/// Of a device that has a queue; zeros where it has none to speak of (RTM_GETQDISC).
Result<QueueCounters> read_queue(NetlinkSocket& socket, IfIndex index);

} // namespace teamo
