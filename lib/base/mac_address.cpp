// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/mac_address.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo {

std::string text_of(const MacAddress& address) {
    const auto& b = address.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::optional<MacAddress> parse_mac_address(std::string_view text) {
    MacAddress address;
    if (std::ranges::count(text, ':') + 1 != std::ssize(address.bytes)) return std::nullopt;
    for (auto& byte : address.bytes) {
        auto part = take_until(text, ":");
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        part = part.substr(0, part.find_last_not_of(' ') + 1);
        const auto number = whole_number<std::uint8_t>(part, 16);
        if (!number || part.size() > 2) return std::nullopt;
        byte = *number;
    }
    return address;
}

} // namespace teamo
