// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/balance.h"

#include <map>

namespace teamo {

/// The counters of each device's root qdisc. Virtual devices have "noqueue" and are not included. One dump
/// for all devices: a request for a single qdisc would also be sent to all listeners of tc events
/// (net/sched/sch_api.c: qdisc_notify).
Result<std::map<IfIndex, QueueCounters>> read_queues(NetlinkSocket& socket);

} // namespace teamo
