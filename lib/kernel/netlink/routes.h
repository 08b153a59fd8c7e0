// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The device and the gateway to which the kernel sends a packet.
#pragma once

#include "base/ip_address.h"
#include "base/named.h"
#include "base/result.h"

#include <optional>

struct nlmsghdr;

namespace teamo {

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
