// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which Ethernet addresses a device takes in beside its own: macvlans, VRRP and others add theirs to the
// device below (dev_uc_add), and a device that says it can filter (IFF_UNICAST_FLT) does not become
// promiscuous for that, so that its flags do not show it.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <linux/netlink.h>

#include <optional>
#include <vector>

namespace teamo {

/// The list without multicast addresses; a device in a bridge has its static forwarding entries here too.
Result<std::vector<MacAddress>> read_unicast_list(IfIndex device);

/// One entry of a device's own lists, out of a message of `bridge fdb show`: RTM_NEWNEIGH, "self". None for
/// what a bridge has learned, and for other messages.
struct HardwareAddress {
    IfIndex device;
    MacAddress address;
    bool operator==(const HardwareAddress&) const = default;
};
std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message);

} // namespace teamo
