// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/mac_address.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// An IPv4 or IPv6 address. A value: comparable, printable.
struct IpAddress {
    bool ipv6 = false;
    std::array<std::uint8_t, 16> bytes{}; ///< network order; the first four for IPv4, the rest zero
    std::size_t size() const { return ipv6 ? 16 : 4; }
    bool is_link_local() const {
        return ipv6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
    } ///< fe80::/10
    auto operator<=>(const IpAddress&) const = default; // NOLINT(modernize-use-nullptr): as named.h
};

/// "10.0.0.1", "fd00::1".
std::string text_of(const IpAddress& address);

/// None if the text is not an address. It has no prefix and no zone.
std::optional<IpAddress> parse_ip(std::string_view text);

/// Converts ::ffff:10.0.0.1, which sockets of both families have for an IPv4 peer, to 10.0.0.1. Other
/// addresses are unchanged.
IpAddress unmapped(const IpAddress& address);

/// The destination MAC address of packets to a multicast group (RFC 1112, 6.4; RFC 2464, 7). None if `group`
/// is not a multicast address.
std::optional<MacAddress> multicast_mac(const IpAddress& group);

} // namespace teamo
