// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/receive_machine.h"

#include <tuple>
#include <utility>

namespace teamo::lacp {
namespace {

/// What identifies a link: a change of it needs a new selection.
auto identity_of(const PortInfo& info) {
    return std::tuple(info.port, info.system, info.key, info.is(StateBit::aggregation));
}

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

} // namespace teamo::lacp
