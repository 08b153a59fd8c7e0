// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/ip_address.h"
#include "base/named.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace teamo {

/// An IP address of a device (RTM_NEWADDR).
struct DeviceAddress {
    IfIndex device;
    IpAddress ip{};
    bool tentative = false;  ///< duplicate address detection runs or has failed
    std::uint8_t prefix = 0; ///< bits of the network
    std::uint32_t flags = 0; ///< IFA_F_*
    bool operator==(const DeviceAddress&) const = default;
};

/// All addresses of the namespace, IPv4 and IPv6.
Result<std::vector<DeviceAddress>> read_addresses();

/// Adds a permanent IPv6 address to a device; no failure if the device has it already.
Result<> add_ipv6_address(const DeviceAddress& address);

} // namespace teamo
