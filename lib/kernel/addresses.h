// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <vector>

namespace teamo {

/// An IP address of a device (RTM_NEWADDR).
struct DeviceAddress {
    IfIndex device;
    bool ipv6 = false;
    std::array<std::uint8_t, 16> bytes{}; ///< the first four for IPv4
    bool tentative = false;               ///< duplicate address detection runs or has failed
    bool operator==(const DeviceAddress&) const = default;
};

/// All addresses of the namespace, IPv4 and IPv6.
Result<std::vector<DeviceAddress>> read_addresses();

} // namespace teamo
