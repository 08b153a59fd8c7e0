// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/queue.h"

#include <map>

namespace teamo {

/// Of every device that has a qdisc to speak of (a virtual one has "noqueue" and is not among them), its
/// root's counters. One dump for all: to be told of a single qdisc the kernel tells every listener of tc's
/// events too (net/sched/sch_api.c: qdisc_notify).
Result<std::map<IfIndex, QueueCounters>> read_queues(NetlinkSocket& socket);

} // namespace teamo
