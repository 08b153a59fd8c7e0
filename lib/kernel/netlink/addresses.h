// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Addresses of devices and of their neighbours, and the route to an address.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"
#include "model/observation.h"

#include <cstdint>
#include <optional>
#include <vector>

struct nlmsghdr;

namespace teamo {

class NetlinkSocket;

/// An IP address of a device (RTM_NEWADDR).
struct DeviceAddress {
    IfIndex device;
    IpAddress ip{};
    bool tentative = false;  ///< duplicate address detection runs or has failed
    std::uint8_t prefix = 0; ///< bits of the network
    std::uint32_t flags = 0; ///< IFA_F_*
    bool operator==(const DeviceAddress&) const = default;
};

/// None for messages of another type, and for addresses of other families.
std::optional<DeviceAddress> parse_address(const nlmsghdr* message);

/// All addresses of the namespace, IPv4 and IPv6.
Result<std::vector<DeviceAddress>> read_addresses();
/// Those of a device. `strict`: see NetlinkSocket::open_strict().
Result<std::vector<DeviceAddress>> read_addresses(NetlinkSocket& strict, IfIndex device);

/// The IPv6 multicast groups of a device.
Result<std::vector<IpAddress>> read_ipv6_groups(NetlinkSocket& strict, IfIndex device);
/// The IPv4 multicast groups of a device. EOPNOTSUPP before Linux 6.15.
Result<std::vector<IpAddress>> read_ipv4_groups(NetlinkSocket& strict, IfIndex device);
/// The group of a device (RTM_GETMULTICAST); none for other messages.
std::optional<DeviceAddress> parse_group(const nlmsghdr* message);

/// Adds a permanent address to a device; no failure if the device has it already.
Result<> add_address(const DeviceAddress& address);

/// A neighbour whose hardware address is known (RTM_NEWNEIGH).
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

/// An Ethernet address that a device accepts besides its own (RTM_NEWNEIGH; `bridge fdb show`, "self").
/// macvlan, VRRP and others add theirs to the lower device (dev_uc_add). A device with IFF_UNICAST_FLT does
/// not become promiscuous then, so its flags do not show it.
struct HardwareAddress {
    IfIndex device;
    MacAddress address;
    bool operator==(const HardwareAddress&) const = default;
};
/// None for addresses that a bridge has learned, and for other messages.
std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message);

/// The device's list: also groups that somebody on it or above it has joined.
Result<std::vector<MacAddress>> read_address_list(IfIndex device);
/// The same without multicast addresses. For a device in a bridge it also has its static forwarding
/// entries.
Result<std::vector<MacAddress>> read_unicast_list(IfIndex device);
/// False: the list is empty, so that the kernel need not look for it among all devices. A veth does not
/// filter (no IFF_UNICAST_FLT), so an address in its list makes it promiscuous while it is up
/// (net/core/dev_addr_lists.c: __dev_set_rx_mode). `now`: just read; no event tells the promiscuity.
bool may_list_addresses(const Link& now);

/// The device and the gateway to which the kernel sends a packet.
struct Route {
    IfIndex device;
    std::optional<IpAddress> gateway; ///< none: the destination is a neighbour
    std::uint8_t type = 0;            ///< RTN_*
    bool operator==(const Route&) const = default;
};
/// None for messages of another type.
std::optional<Route> parse_route(const nlmsghdr* message);

/// The kernel's choice for a packet (RTM_GETROUTE); `from` matters for policy routing.
/// ENETUNREACH: there is no route.
Result<Route> read_route(const IpAddress& to, const std::optional<IpAddress>& from);

} // namespace teamo
