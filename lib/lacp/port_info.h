// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a LACPDU says of a port, of the actor or of the partner. IEEE 802.1AX-2020, 6.4.2.3.
#pragma once

#include "base/mac_address.h"

#include <compare>
#include <cstdint>

namespace teamo::lacp {

/// The bits of Actor_State and Partner_State.
enum class StateBit : std::uint8_t {
    activity = 1U << 0,        ///< LACP_Activity: sends also if the partner is passive
    timeout = 1U << 1,         ///< LACP_Timeout: short, so it wants a LACPDU each second
    aggregation = 1U << 2,     ///< may be aggregated; otherwise an individual link
    synchronization = 1U << 3, ///< its aggregator is the right one
    collecting = 1U << 4,      ///< receives
    distributing = 1U << 5,    ///< transmits
    defaulted = 1U << 6,       ///< uses default values for its partner, because none has answered
    expired = 1U << 7,         ///< has not heard its partner for a while
};

/// Lower is better in each: priority first, then the address or number.
struct SystemId {
    std::uint16_t priority = 0;
    MacAddress address{};
    auto operator<=>(const SystemId&) const = default;
};
struct PortId {
    std::uint16_t priority = 0, number = 0;
    auto operator<=>(const PortId&) const = default;
};

struct PortInfo {
    SystemId system{};
    std::uint16_t key = 0;
    PortId port{};
    std::uint8_t state = 0; ///< StateBit
    bool operator==(const PortInfo&) const = default;

    bool is(StateBit bit) const { return (state & static_cast<std::uint8_t>(bit)) != 0; }
    void set(StateBit bit, bool on) {
        const auto mask = static_cast<std::uint8_t>(bit);
        state = static_cast<std::uint8_t>(on ? state | mask : state & ~mask);
    }
};

} // namespace teamo::lacp
