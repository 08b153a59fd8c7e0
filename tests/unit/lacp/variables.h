// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lacp/machines.h"

#include <gtest/gtest.h>

namespace teamo::lacp {

using namespace std::chrono_literals;
using enum StateBit;

inline constexpr Clock::time_point start{1'000'000s};

inline PortInfo with(PortInfo info, std::initializer_list<StateBit> bits) {
    for (const auto bit : bits)
        info.set(bit, true);
    return info;
}

/// A port that is enabled, and its partner.
inline PortInfo own_info() {
    return with({.system = {.priority = 65535, .address = {{2, 0, 0, 0, 0, 1}}},
                 .key = 11,
                 .port = {.priority = 255, .number = 1}},
                {activity, timeout, aggregation});
}
inline PortInfo partner_info() {
    return with({.system = {.priority = 32768, .address = {{2, 0, 0, 0, 0, 2}}},
                 .key = 7,
                 .port = {.priority = 128, .number = 3}},
                {activity, timeout, aggregation});
}
inline PortVariables enabled_port() {
    PortVariables port{.actor = own_info()};
    port.port_enabled = true;
    return port;
}
/// A LACPDU of the partner that knows this port.
inline Lacpdu pdu_for(const PortVariables& port, std::initializer_list<StateBit> more = {}) {
    return {.actor = with(partner_info(), more), .partner = port.actor};
}

} // namespace teamo::lacp
