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
#include <set>

namespace teamo {

/// The device's own counters since it was created (IFLA_STATS64). A card counts packets on the wire: a GSO
/// packet counts as its segments.
Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index);

/// Its error counters since then.
Result<LinkErrors> read_link_errors(NetlinkSocket& socket, IfIndex index);

struct DeviceQueues {
    std::map<IfIndex, QueueCounters> counters; ///< of each device's root qdisc
    std::set<IfIndex> without; ///< those whose root is "noqueue", as of virtual devices; they count nothing
};
/// One dump for all devices: a request for a single qdisc would also be sent to all listeners of tc events
/// (net/sched/sch_api.c: qdisc_notify). A device that was never up is not included.
Result<DeviceQueues> read_queues(NetlinkSocket& socket);

// Messages of the kernel, pure.

/// The counters of a device (RTM_NEWSTATS); none for other messages.
std::optional<rtnl_link_stats64> parse_stats(const nlmsghdr* message);

/// Adds the counters of a root qdisc (RTM_NEWQDISC).
void add_queue(const nlmsghdr* message, DeviceQueues& queues);

} // namespace teamo
