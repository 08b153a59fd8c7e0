// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace teamo {

std::string text_of(const IpAddress& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return ::inet_ntop(address.ipv6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
}

std::optional<IpAddress> parse_ip(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) return std::nullopt;
    const std::string terminated(text);
    IpAddress address{.ipv6 = text.find(':') != std::string_view::npos};
    if (::inet_pton(address.ipv6 ? AF_INET6 : AF_INET, terminated.c_str(), address.bytes.data()) != 1)
        return std::nullopt;
    return address;
}

IpAddress unmapped(const IpAddress& address) {
    constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (!address.ipv6 || !std::equal(prefix.begin(), prefix.end(), address.bytes.begin())) return address;
    IpAddress plain;
    std::copy_n(address.bytes.begin() + prefix.size(), 4, plain.bytes.begin());
    return plain;
}

std::optional<MacAddress> multicast_mac(const IpAddress& group) {
    const auto& bytes = group.bytes;
    if (group.ipv6) {
        if (bytes[0] != 0xff) return std::nullopt;
        return MacAddress{{0x33, 0x33, bytes[12], bytes[13], bytes[14], bytes[15]}};
    }
    if ((bytes[0] & 0xf0) != 0xe0) return std::nullopt;
    return MacAddress{{0x01, 0x00, 0x5e, static_cast<std::uint8_t>(bytes[1] & 0x7f), bytes[2], bytes[3]}};
}

} // namespace teamo
