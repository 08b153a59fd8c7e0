// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/transmit_machine.h"

#include <algorithm>

namespace teamo::lacp {
namespace {

bool wants(const PortVariables& port) {
    return port.ntt && port.lacp_enabled && port.port_enabled && !port.both_passive();
}

} // namespace

bool TransmitMachine::may_send(const PortVariables& port, Clock::time_point now) const {
    return wants(port) && (!sent_.front() || now >= *sent_.front() + fast_periodic_time);
}

void TransmitMachine::note_sent(PortVariables& port, Clock::time_point now) {
    port.ntt = false;
    std::ranges::rotate(sent_, sent_.begin() + 1);
    sent_.back() = now;
}

std::optional<Clock::time_point> TransmitMachine::deadline(const PortVariables& port) const {
    if (!wants(port) || !sent_.front()) return std::nullopt;
    return *sent_.front() + fast_periodic_time;
}

} // namespace teamo::lacp
