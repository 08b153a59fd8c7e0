// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The variables that the machines of one port share, by the standard's names. IEEE 802.1AX-2020, 6.4.4
// to 6.4.8.
#pragma once

#include "base/clock.h"
#include "model/lacp.h"

#include <chrono>

namespace teamo::lacp {

// 6.4.4, constants.
inline constexpr std::chrono::seconds fast_periodic_time{1}, slow_periodic_time{30};
inline constexpr std::chrono::seconds short_timeout_time{3}, long_timeout_time{90};
inline constexpr std::chrono::seconds churn_detection_time{60}, aggregate_wait_time{2};

/// Whether the selection logic has found an aggregator for the port.
enum class Selected : std::uint8_t { unselected, selected, standby };

struct PortVariables {
    PortInfo actor{};         ///< Actor_Oper: what our LACPDUs say of this port
    PortInfo partner{};       ///< Partner_Oper: what the last LACPDU said, or partner_admin
    PortInfo partner_admin{}; ///< Partner_Admin: used while no partner answers
    bool port_enabled = false;
    bool lacp_enabled = true;
    bool port_moved = false; ///< its partner has appeared at another port
    bool ntt = false;        ///< Need To Transmit
    Selected selected = Selected::unselected;
    bool held = false;  ///< not in the standard: must not distribute, because a link watch is down
    bool ready = false; ///< all ports that wait for this aggregator have waited long enough

    /// Neither side sends without being asked.
    bool both_passive() const { return !actor.is(StateBit::activity) && !partner.is(StateBit::activity); }
};

} // namespace teamo::lacp
