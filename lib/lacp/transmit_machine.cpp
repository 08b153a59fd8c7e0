// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/transmit_machine.h"

#include <algorithm>

namespace teamo::lacp {
namespace {

constexpr std::chrono::milliseconds retry_time{100};

bool wants(const PortVariables& port) {
    return port.ntt && port.lacp_enabled && port.port_enabled && !port.both_passive();
}

} // namespace

std::optional<Clock::time_point> TransmitMachine::next() const {
    if (!sent_.front()) return retry_;
    const auto allowed = *sent_.front() + fast_periodic_time;
    return retry_ ? std::max(allowed, *retry_) : allowed;
}

bool TransmitMachine::may_send(const PortVariables& port, Clock::time_point now) const {
    const auto when = next();
    return wants(port) && (!when || now >= *when);
}

void TransmitMachine::note_sent(PortVariables& port, Clock::time_point now) {
    port.ntt = false;
    retry_.reset();
    std::ranges::rotate(sent_, sent_.begin() + 1);
    sent_.back() = now;
}

void TransmitMachine::note_failed(Clock::time_point now) { retry_ = now + retry_time; }

std::optional<Clock::time_point> TransmitMachine::deadline(const PortVariables& port) const {
    return wants(port) ? next() : std::nullopt;
}

} // namespace teamo::lacp
