// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A device that sends announcements after a failover (the team, or a VLAN on it), with its addresses.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo::announce {

/// The version that the network's querier speaks, as the kernel found out (/proc/net/igmp).
enum class IgmpVersion : std::uint8_t { v1 = 1, v2, v3 };

struct Speaker {
    MacAddress mac{};
    std::optional<std::uint16_t> vlan{}; ///< VID of the tag its frames bear
    std::vector<IpAddress> ipv4{};
    std::vector<IpAddress> ipv6{}; ///< not those that are tentative: nobody may hear of them yet
    std::vector<IpAddress> ipv4_groups{};
    std::vector<IpAddress> ipv6_groups{};
    IgmpVersion igmp = IgmpVersion::v3;
    /// It forwards IPv6 (net.ipv6.conf.DEVICE.forwarding). If this is wrongly false, neighbours drop their
    /// default route (RFC 4861, 7.2.5).
    bool router = false;
};

} // namespace teamo::announce
