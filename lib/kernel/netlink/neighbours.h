// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Entries of RTM_NEWNEIGH: the neighbour table, and the Ethernet addresses that a device accepts besides its
// own. macvlan, VRRP and others add theirs to the lower device (dev_uc_add). A device with IFF_UNICAST_FLT
// does not become promiscuous then, so its flags do not show it.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <linux/netlink.h>

#include <optional>
#include <vector>

namespace teamo {

/// A neighbour whose hardware address is known.
struct Neighbour {
    IfIndex device;
    IpAddress address{};
    MacAddress mac{};
    bool operator==(const Neighbour&) const = default;
};
/// None for neighbours without an Ethernet address, and for other messages.
std::optional<Neighbour> parse_neighbour(const nlmsghdr* message);

/// The neighbour table, IPv4 and IPv6.
Result<std::vector<Neighbour>> read_neighbours();

/// One entry of a device's own lists (`bridge fdb show`, "self").
struct HardwareAddress {
    IfIndex device;
    MacAddress address;
    bool operator==(const HardwareAddress&) const = default;
};
/// None for addresses that a bridge has learned, and for other messages.
std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message);

/// The device's list without multicast addresses. For a device in a bridge it also has its static forwarding
/// entries.
Result<std::vector<MacAddress>> read_unicast_list(IfIndex device);

} // namespace teamo
