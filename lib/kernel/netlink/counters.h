// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's counters of devices and of their queues.
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/balance.h"
#include "model/machine.h"
#include "model/status.h"

#include <linux/if_link.h>

#include <map>
#include <optional>

namespace teamo {

/// The device's own counters since it was created (IFLA_STATS64). A card counts packets on the wire: a GSO
/// packet counts as its segments.
Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index);

/// Its error counters since then.
Result<LinkErrors> read_link_errors(NetlinkSocket& socket, IfIndex index);

/// The counters of each device's root qdisc. Virtual devices have "noqueue" and are not included. One dump
/// for all devices: a request for a single qdisc would also be sent to all listeners of tc events
/// (net/sched/sch_api.c: qdisc_notify).
Result<std::map<IfIndex, QueueCounters>> read_queues(NetlinkSocket& socket);

// Messages of the kernel, pure.

/// The counters of a device (RTM_NEWSTATS); none for other messages.
std::optional<rtnl_link_stats64> parse_stats(const nlmsghdr* message);

/// Adds the counters of a root qdisc (RTM_NEWQDISC).
void add_queue(const nlmsghdr* message, std::map<IfIndex, QueueCounters>& queues);

} // namespace teamo
