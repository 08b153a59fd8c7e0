// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The transmit machine: when a needed LACPDU may be sent. IEEE 802.1AX-2020, 6.4.15.
#pragma once

#include "lacp/variables.h"

#include <array>
#include <optional>

namespace teamo::lacp {

class TransmitMachine {
public:
    /// True: send a LACPDU now. Then call note_sent() or note_failed().
    bool may_send(const PortVariables& port, Clock::time_point now) const;
    void note_sent(PortVariables& port, Clock::time_point now);
    /// Keeps NTT, and waits a moment.
    void note_failed(Clock::time_point now);
    /// When a LACPDU that waits may be sent.
    std::optional<Clock::time_point> deadline(const PortVariables& port) const;

private:
    /// When another one may be sent; none: at once.
    std::optional<Clock::time_point> next(const PortVariables& port) const;

    static constexpr std::size_t at_once = 3;                      ///< in any Fast_Periodic_Time
    std::array<std::optional<Clock::time_point>, at_once> sent_{}; ///< the oldest first
    PortInfo sent_actor_{}, sent_partner_{};                       ///< by the last one
    std::optional<Clock::time_point> retry_{};                     ///< after a failure
};

} // namespace teamo::lacp
