// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/transmit_machine.h"

#include <algorithm>

namespace teamo::lacp {
namespace {

constexpr std::chrono::milliseconds retry_time{100};
/// A LACPDU that crossed one of the partner's says nothing new: its repetition would only use up the limit,
/// and the next state of a handshake would wait for a second.
constexpr std::chrono::milliseconds repeat_time{100};

bool wants(const PortVariables& port) {
    return port.ntt && port.lacp_enabled && port.port_enabled && !port.both_passive();
}

} // namespace

std::optional<Clock::time_point> TransmitMachine::next(const PortVariables& port) const {
    auto when = retry_;
    const auto not_before = [&when](Clock::time_point time) { when = when ? std::max(*when, time) : time; };
    if (sent_.front()) not_before(*sent_.front() + fast_periodic_time);
    if (sent_.back() && port.actor == sent_actor_ && port.partner == sent_partner_)
        not_before(*sent_.back() + repeat_time);
    return when;
}

bool TransmitMachine::may_send(const PortVariables& port, Clock::time_point now) const {
    const auto when = next(port);
    return wants(port) && (!when || now >= *when);
}

void TransmitMachine::note_sent(PortVariables& port, Clock::time_point now) {
    port.ntt = false;
    retry_.reset();
    std::rotate(sent_.begin(), sent_.begin() + 1, sent_.end());
    sent_.back() = now;
    sent_actor_ = port.actor;
    sent_partner_ = port.partner;
}

void TransmitMachine::note_failed(Clock::time_point now) { retry_ = now + retry_time; }

std::optional<Clock::time_point> TransmitMachine::deadline(const PortVariables& port) const {
    return wants(port) ? next(port) : std::nullopt;
}

} // namespace teamo::lacp
