// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The Ethernet addresses that a device accepts besides its own. macvlan, VRRP and others add theirs to the
// lower device (dev_uc_add). A device with IFF_UNICAST_FLT does not become promiscuous then, so its flags do
// not show it.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <linux/netlink.h>

#include <optional>
#include <vector>

namespace teamo {

/// The list without multicast addresses. For a device in a bridge it also has its static forwarding entries.
Result<std::vector<MacAddress>> read_unicast_list(IfIndex device);

/// One entry of a device's own lists, from RTM_NEWNEIGH (`bridge fdb show`, "self"). None for addresses that
/// a bridge has learned, and for other messages.
struct HardwareAddress {
    IfIndex device;
    MacAddress address;
    bool operator==(const HardwareAddress&) const = default;
};
std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message);

} // namespace teamo
