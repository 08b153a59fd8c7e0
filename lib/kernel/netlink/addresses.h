// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// An IP address of a device (RTM_NEWADDR).
struct DeviceAddress {
    IfIndex device;
    bool ipv6 = false;
    std::array<std::uint8_t, 16> bytes{}; ///< the first four for IPv4
    bool tentative = false;               ///< duplicate address detection runs or has failed
    std::uint8_t prefix = 0;              ///< bits of the network
    std::uint32_t flags = 0;              ///< IFA_F_*
    bool operator==(const DeviceAddress&) const = default;
};

/// "10.0.0.1", "fd00::1", without the prefix.
std::string text_of(const DeviceAddress& address);

/// The reverse of text_of(): sets `bytes` and `ipv6`. False if the text is not an address.
bool parse_ip_address(std::string_view text, DeviceAddress& address);

/// All addresses of the namespace, IPv4 and IPv6.
Result<std::vector<DeviceAddress>> read_addresses();

/// Adds a permanent IPv6 address to a device; no failure if the device has it already.
Result<> add_ipv6_address(const DeviceAddress& address);

} // namespace teamo
