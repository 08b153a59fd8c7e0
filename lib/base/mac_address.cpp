// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/mac_address.h"

#include <fmt/format.h>

#include <charconv>

namespace teamo {

std::string text_of(const MacAddress& address) {
    const auto& b = address.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::optional<MacAddress> parse_mac_address(std::string_view text) {
    MacAddress address;
    for (std::size_t index = 0; index < address.bytes.size(); ++index) {
        const bool last = index + 1 == address.bytes.size();
        const auto colon = text.find(':');
        if (last != (colon == std::string_view::npos)) return std::nullopt;
        auto part = text.substr(0, colon);
        text.remove_prefix(last ? text.size() : colon + 1);

        while (!part.empty() && part.front() == ' ')
            part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ')
            part.remove_suffix(1);
        if (part.empty() || part.size() > 2) return std::nullopt;
        const auto* end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data(), end, address.bytes[index], 16);
        if (error != std::errc{} || stop != end) return std::nullopt;
    }
    return address;
}

} // namespace teamo
