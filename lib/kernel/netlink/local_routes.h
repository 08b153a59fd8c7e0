// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Addresses that this network namespace answers for without a device that has them.
#pragma once

#include "base/ip_address.h"
#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace teamo {

/// A route of the table "local": an address of a device, an anycast address, or a whole network that the
/// host takes as its own (`ip route add local 192.0.2.0/24 dev lo`, "AnyIP").
struct LocalRoute {
    IpAddress to{};
    std::uint8_t prefix = 0; ///< bits of the network
    bool operator==(const LocalRoute&) const = default;
    bool is_network() const { return prefix < 8 * to.size(); }
};
/// None for routes of other tables and types.
std::optional<LocalRoute> parse_local_route(const nlmsghdr* message);
Result<std::vector<LocalRoute>> read_local_routes();

/// From now on `events` also receives a message for each local route that comes or goes. The kernel discards
/// the messages of other routes before they reach the socket: a router has thousands of them a second.
Result<> listen_to_local_routes(const NetlinkSocket& events);

/// True if the kernel answers for an address of another host (`ip neighbour add proxy`).
Result<bool> has_proxy_neighbours();

/// True if the device answers for other hosts (the sysctls proxy_arp, proxy_arp_pvlan and proxy_ndp).
/// `device`: also "all".
bool is_proxy(std::string_view device);

} // namespace teamo
