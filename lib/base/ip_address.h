// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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
    auto operator<=>(const IpAddress&) const = default; // NOLINT(modernize-use-nullptr): as named.h
};

/// "10.0.0.1", "fd00::1".
std::string text_of(const IpAddress& address);

/// None if the text is not an address. It has no prefix and no zone.
std::optional<IpAddress> parse_ip(std::string_view text);

/// Converts ::ffff:10.0.0.1, which sockets of both families have for an IPv4 peer, to 10.0.0.1. Other
/// addresses are unchanged.
IpAddress unmapped(const IpAddress& address);

} // namespace teamo
