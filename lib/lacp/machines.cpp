// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/machines.h"

#include <algorithm>

namespace teamo::lacp {

// ---- receive machine ----------------------------------------------------------------------------

namespace {

/// 6.4.9, update_Selected and update_Default_Selected.
void update_selected(PortVariables& port, const PortInfo& partner) {
    if (identity_of(partner) != identity_of(port.partner)) port.selected = Selected::unselected;
}

/// 6.4.9, update_NTT: the partner's view of this port is not up to date.
void update_ntt(PortVariables& port, const PortInfo& seen) {
    constexpr auto bits = static_cast<std::uint8_t>(StateBit::activity) |
                          static_cast<std::uint8_t>(StateBit::timeout) |
                          static_cast<std::uint8_t>(StateBit::synchronization) |
                          static_cast<std::uint8_t>(StateBit::aggregation);
    if (identity_of(seen) != identity_of(port.actor) || ((seen.state ^ port.actor.state) & bits) != 0)
        port.ntt = true;
}

/// 6.4.9, recordPDU. The partner is in synchronization if it says so and means this link: its view of this
/// port is right, or it is an individual link. And somebody must keep the link alive.
void record_pdu(PortVariables& port, const Lacpdu& pdu) {
    port.partner = pdu.actor;
    port.actor.set(StateBit::defaulted, false);
    const bool means_this_link =
        identity_of(pdu.partner) == identity_of(port.actor) || !pdu.actor.is(StateBit::aggregation);
    const bool maintained = pdu.actor.is(StateBit::activity) ||
                            (port.actor.is(StateBit::activity) && pdu.partner.is(StateBit::activity));
    port.partner.set(StateBit::synchronization,
                     pdu.actor.is(StateBit::synchronization) && means_this_link && maintained);
}

/// 6.4.9, recordDefault.
void record_default(PortVariables& port) {
    port.partner = port.partner_admin;
    port.actor.set(StateBit::defaulted, true);
}

/// By what this port has asked for.
std::chrono::seconds current_while_time(const PortVariables& port) {
    return port.actor.is(StateBit::timeout) ? short_timeout_time : long_timeout_time;
}

} // namespace

void ReceiveMachine::restore(ReceiveState state, Clock::time_point now, const PortVariables& port) {
    state_ = state;
    begun_ = true;
    if (state == ReceiveState::current) current_while_ = now + current_while_time(port);
}

std::optional<ReceiveState> ReceiveMachine::next(const PortVariables& port, const Lacpdu* pdu,
                                                 Clock::time_point now) const {
    using enum ReceiveState;
    if (!begun_) return initialize;
    if (state_ == initialize) return port_disabled;
    if (!port.port_enabled && !port.port_moved)
        return state_ == port_disabled ? std::nullopt : std::optional(port_disabled);
    const bool timed_out = current_while_ && now >= *current_while_;
    switch (state_) {
    case port_disabled:
        if (port.port_moved) return initialize;
        return port.lacp_enabled ? expired : lacp_disabled;
    case lacp_disabled: return port.lacp_enabled ? std::optional(port_disabled) : std::nullopt;
    case expired:
        if (pdu != nullptr) return current;
        return timed_out ? std::optional(defaulted) : std::nullopt;
    case current:
        if (pdu != nullptr) return current;
        return timed_out ? std::optional(expired) : std::nullopt;
    case defaulted: return pdu != nullptr ? std::optional(current) : std::nullopt;
    case initialize: break;
    }
    return std::nullopt;
}

void ReceiveMachine::enter(ReceiveState state, PortVariables& port, const Lacpdu* pdu,
                           Clock::time_point now) {
    state_ = state;
    begun_ = true;
    current_while_.reset();
    switch (state) {
    case ReceiveState::initialize:
        port.selected = Selected::unselected;
        record_default(port);
        port.actor.set(StateBit::expired, false);
        port.port_moved = false;
        break;
    case ReceiveState::port_disabled: port.partner.set(StateBit::synchronization, false); break;
    case ReceiveState::expired:
        port.partner.set(StateBit::synchronization, false);
        port.partner.set(StateBit::timeout, true); // so that the periodic machine sends fast
        port.actor.set(StateBit::expired, true);
        current_while_ = now + short_timeout_time;
        break;
    case ReceiveState::lacp_disabled:
        port.selected = Selected::unselected;
        record_default(port);
        port.partner.set(StateBit::aggregation, false);
        port.actor.set(StateBit::expired, false);
        break;
    case ReceiveState::defaulted:
        update_selected(port, port.partner_admin);
        record_default(port);
        port.actor.set(StateBit::expired, false);
        break;
    case ReceiveState::current:
        update_selected(port, pdu->actor);
        update_ntt(port, pdu->partner);
        record_pdu(port, *pdu);
        port.actor.set(StateBit::expired, false);
        current_while_ = now + current_while_time(port);
        break;
    }
}

void ReceiveMachine::step(PortVariables& port, const Lacpdu* pdu, Clock::time_point now) {
    while (const auto state = next(port, pdu, now)) {
        enter(*state, port, pdu, now);
        if (*state == ReceiveState::current) pdu = nullptr; // taken
    }
}

// ---- periodic machine ---------------------------------------------------------------------------

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

// ---- mux machine --------------------------------------------------------------------------------

std::optional<MuxState> MuxMachine::next(const PortVariables& port) const {
    using enum MuxState;
    const bool selected = port.selected == Selected::selected;
    const bool in_sync = selected && port.partner.is(StateBit::synchronization);
    const bool may_distribute = port.partner.is(StateBit::collecting) && !port.held;
    const bool coupled = control_ == MuxControl::coupled;
    switch (state_) {
    case detached: return port.selected == Selected::unselected ? std::nullopt : std::optional(waiting);
    case waiting:
        if (port.selected == Selected::unselected) return detached;
        return selected && port.ready ? std::optional(attached) : std::nullopt;
    case attached:
        if (!selected) return detached;
        if (!in_sync) return std::nullopt;
        return coupled ? distributing : collecting;
    case collecting:
        if (!in_sync) return attached;
        return may_distribute ? std::optional(distributing) : std::nullopt;
    case distributing:
        if (coupled) return in_sync ? std::nullopt : std::optional(attached);
        return in_sync && may_distribute ? std::nullopt : std::optional(collecting);
    }
    return std::nullopt;
}

void MuxMachine::enter(MuxState state, PortVariables& port, Clock::time_point now) {
    using enum MuxState;
    state_ = state;
    wait_while_ = state == waiting ? std::optional(now + aggregate_wait_time) : std::nullopt;
    if (state == waiting) return;
    const bool distributes = state == distributing;
    port.actor.set(StateBit::synchronization, state != detached);
    port.actor.set(StateBit::collecting, state == collecting || distributes);
    port.actor.set(StateBit::distributing, distributes);
    port.ntt = true;
}

void MuxMachine::restore(const PortVariables& port) {
    using enum MuxState;
    if (!port.actor.is(StateBit::synchronization)) return;
    state_ = attached;
    if (port.actor.is(StateBit::collecting) && control_ == MuxControl::independent) state_ = collecting;
    if (port.actor.is(StateBit::distributing)) state_ = distributing;
}

void MuxMachine::step(PortVariables& port, Clock::time_point now) {
    while (const auto state = next(port))
        enter(*state, port, now);
}

// ---- transmit machine ---------------------------------------------------------------------------

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

// ---- churn machine ------------------------------------------------------------------------------

void ChurnMachine::step(bool port_enabled, bool in_sync, Clock::time_point now) {
    if (!port_enabled || in_sync) {
        state_ = ChurnState::no_churn;
        detection_.reset();
    } else if (state_ == ChurnState::no_churn) {
        state_ = ChurnState::monitor;
        detection_ = now + churn_detection_time;
    } else if (detection_ && now >= *detection_) {
        state_ = ChurnState::churn;
        detection_.reset();
    }
}

} // namespace teamo::lacp
