// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// An Ethernet address (EUI-48). A value: comparable, printable, all zero when unset.
struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};
    auto operator<=>(const MacAddress&) const = default;

    bool is_zero() const { return *this == MacAddress{}; }
    bool is_multicast() const { return (bytes[0] & 1) != 0; }
};

/// "52:54:00:aa:bb:cc", lower case, as ip(8) prints it.
std::string text_of(const MacAddress& address);

/// Parses what teamd's hwaddr option accepts: six hexadecimal numbers of one or two digits, separated by
/// colons, with optional blanks around each. None for any other text.
std::optional<MacAddress> parse_mac_address(std::string_view text);

} // namespace teamo
