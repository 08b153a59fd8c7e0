// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A device that sends announcements after a failover (the team, or a VLAN on it), with its addresses.
#pragma once

#include "base/mac_address.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace teamo::announce {

/// Bytes as on the wire.
struct Ipv4Address {
    std::array<std::uint8_t, 4> bytes{};
    auto operator<=>(const Ipv4Address&) const = default;
};
struct Ipv6Address {
    std::array<std::uint8_t, 16> bytes{};
    auto operator<=>(const Ipv6Address&) const = default;

    bool is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
};

/// The version of the network's querier, as the kernel detected it (/proc/net/igmp).
enum class IgmpVersion : std::uint8_t { v1 = 1, v2, v3 };

struct Speaker {
    MacAddress mac{};
    std::optional<std::uint16_t> vlan{}; ///< VLAN id of the tag on its frames
    std::vector<Ipv4Address> ipv4{};
    std::vector<Ipv6Address> ipv6{}; ///< without tentative ones, which must not be announced yet
    std::vector<Ipv4Address> ipv4_groups{};
    std::vector<Ipv6Address> ipv6_groups{};
    IgmpVersion igmp = IgmpVersion::v3;
    /// It forwards IPv6 (net.ipv6.conf.DEVICE.forwarding). If this is wrongly false, neighbours drop their
    /// default route (RFC 4861, 7.2.5).
    bool router = false;
};

} // namespace teamo::announce
