// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The periodic transmission machine: a LACPDU each second or every 30 seconds, as the partner wants.
// IEEE 802.1AX-2020, 6.4.13.
#pragma once

#include "base/named.h"
#include "lacp/variables.h"

#include <optional>

namespace teamo::lacp {

enum class PeriodicState : std::uint8_t { no_periodic, fast_periodic, slow_periodic };

class PeriodicMachine {
public:
    /// Sets PortVariables::ntt when a LACPDU is due. Call it after the receive machine, and at deadline().
    void step(PortVariables& port, Clock::time_point now);

    PeriodicState state() const { return state_; }
    /// When periodic_timer expires.
    std::optional<Clock::time_point> deadline() const { return periodic_; }

private:
    PeriodicState state_ = PeriodicState::no_periodic;
    std::optional<Clock::time_point> periodic_;
};

} // namespace teamo::lacp

template <>
inline constexpr std::array<std::string_view, 3> teamo::enum_names<teamo::lacp::PeriodicState>{
    "no_periodic", "fast_periodic", "slow_periodic"};
