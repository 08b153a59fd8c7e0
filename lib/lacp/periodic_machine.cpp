// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/periodic_machine.h"

namespace teamo::lacp {

void PeriodicMachine::step(PortVariables& port, Clock::time_point now) {
    using enum PeriodicState;
    if (!port.lacp_enabled || !port.port_enabled || port.both_passive()) {
        state_ = no_periodic;
        periodic_.reset();
        return;
    }
    const auto wanted = port.partner.is(StateBit::timeout) ? fast_periodic : slow_periodic;
    const bool is_due = periodic_ && now >= *periodic_;
    // PERIODIC_TX, which leads on at once: also when the partner begins to want a LACPDU each second.
    if (is_due || (state_ == slow_periodic && wanted == fast_periodic)) port.ntt = true;
    if (state_ == wanted && !is_due) return;
    state_ = wanted;
    periodic_ = now + (wanted == fast_periodic ? fast_periodic_time : slow_periodic_time);
}

} // namespace teamo::lacp
