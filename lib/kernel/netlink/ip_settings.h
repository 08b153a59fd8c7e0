// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What IP has on a device, so that another device can take its place without a pause.
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"

#include <cstddef>
#include <vector>

namespace teamo {

/// Addresses, routes and neighbours of a device, as the kernel's messages about them.
class IpSettings {
public:
    static Result<IpSettings> read(IfIndex device);

    /// Gives `to` the same addresses, without duplicate address detection, and the same neighbours. Both
    /// devices may have them at the same time: the kernel accepts a packet for an own address from each
    /// device.
    Result<> copy_addresses(IfIndex to) const;
    /// Gives `to` each route of the device, and then removes that of the device, so that there is always one.
    /// Routes over other devices are not touched. The routes of link-local addresses stay.
    Result<> move_routes(IfIndex to) const;

    /// An address has a lifetime, so a program renews it (DHCP, router advertisements).
    bool is_renewed() const;

private:
    using Message = std::vector<std::byte>; ///< from nlmsghdr on
    IfIndex device_;
    std::vector<Message> addresses_, routes_, neighbours_;
};

// Messages, pure.

/// Temporary addresses (RFC 8981) are none: the kernel makes them itself.
bool is_address_of(const nlmsghdr* message, IfIndex device);

/// True for routes that somebody has chosen, or that belong to an address.
bool is_route_of(const nlmsghdr* message, IfIndex device);

/// True for neighbours whose Ethernet address is known.
bool is_neighbour_of(const nlmsghdr* message, IfIndex device);

// Requests that are made of messages for which the function above returns true.
NlMessage address_for(const nlmsghdr* message, IfIndex device);
NlMessage neighbour_for(const nlmsghdr* message, IfIndex device);
/// The same route over another device.
NlMessage route_for(const nlmsghdr* message, IfIndex from, IfIndex to);
NlMessage removal_of(const nlmsghdr* route);

} // namespace teamo
