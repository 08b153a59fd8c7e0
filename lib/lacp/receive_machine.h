// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The receive machine: what is known of the partner. IEEE 802.1AX-2020, 6.4.12.
#pragma once

#include "base/named.h"
#include "lacp/lacpdu.h"
#include "lacp/variables.h"

#include <optional>

namespace teamo::lacp {

enum class ReceiveState : std::uint8_t {
    initialize,
    port_disabled,
    expired,
    lacp_disabled,
    defaulted,
    current
};

class ReceiveMachine {
public:
    /// Takes a LACPDU that has arrived, if any. Call it also when port_enabled, lacp_enabled or port_moved
    /// has changed, and at deadline().
    void step(PortVariables& port, const Lacpdu* pdu, Clock::time_point now);

    /// Continues in `current`, or in `defaulted`, as another daemon left it.
    void restore(ReceiveState state, Clock::time_point now, const PortVariables& port);

    ReceiveState state() const { return state_; }
    /// When current_while_timer expires.
    std::optional<Clock::time_point> deadline() const { return current_while_; }

private:
    void enter(ReceiveState state, PortVariables& port, const Lacpdu* pdu, Clock::time_point now);
    std::optional<ReceiveState> next(const PortVariables& port, const Lacpdu* pdu,
                                     Clock::time_point now) const;

    ReceiveState state_ = ReceiveState::initialize;
    bool begun_ = false;
    std::optional<Clock::time_point> current_while_;
};

} // namespace teamo::lacp

template <>
inline constexpr std::array<std::string_view, 6> teamo::enum_names<teamo::lacp::ReceiveState>{
    "initialize", "port_disabled", "expired", "lacp_disabled", "defaulted", "current"};
