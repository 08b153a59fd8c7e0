// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which device, and which neighbour there, the kernel sends a packet to.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <optional>
#include <vector>

struct nlmsghdr;

namespace teamo {

struct Route {
    IfIndex device;
    std::optional<IpAddress> gateway; ///< none: the destination is a neighbour
    std::uint8_t type = 0;            ///< RTN_*
    bool operator==(const Route&) const = default;
};

/// A neighbour whose hardware address is known.
struct Neighbour {
    IfIndex device;
    IpAddress address{};
    MacAddress mac{};
    bool operator==(const Neighbour&) const = default;
};

// What a message says; none where it is of another kind, or has no hardware address.
std::optional<Route> parse_route(const nlmsghdr* message);
std::optional<Neighbour> parse_neighbour(const nlmsghdr* message);

/// The kernel's choice for a packet (RTM_GETROUTE); `from` counts where there is policy routing.
/// ENETUNREACH: there is no route.
Result<Route> read_route(const IpAddress& to, const std::optional<IpAddress>& from);

/// The neighbour table (RTM_GETNEIGH), IPv4 and IPv6.
Result<std::vector<Neighbour>> read_neighbours();

/// The address that packets to all listeners of a group bear; none where `to` is no multicast address.
/// (RFC 1112, 6.4; RFC 2464, 7.)
std::optional<MacAddress> multicast_mac(const IpAddress& to);

} // namespace teamo
