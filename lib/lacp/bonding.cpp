// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/bonding.h"

#include "lacp/port.h"

namespace teamo::lacp {
namespace {

ReceiveState receive_state(const PortInfo& actor, bool has_link) {
    if (!has_link) return ReceiveState::port_disabled;
    if (actor.is(StateBit::defaulted)) return ReceiveState::defaulted;
    return actor.is(StateBit::expired) ? ReceiveState::expired : ReceiveState::current;
}

MuxState mux_state(const PortInfo& actor) {
    if (actor.is(StateBit::distributing)) return MuxState::distributing;
    if (actor.is(StateBit::collecting)) return MuxState::collecting;
    return actor.is(StateBit::synchronization) ? MuxState::attached : MuxState::detached;
}

NotSelected why_not(const PortStatus& port, ReceiveState state) {
    if (state == ReceiveState::port_disabled) return NotSelected::no_link;
    if (port.actor.is(StateBit::distributing)) return NotSelected::held; // bonding would send by it
    if (state != ReceiveState::current) return NotSelected::partner_silent;
    if (!port.partner.is(StateBit::aggregation)) return NotSelected::individual;
    if (!port.selected) return NotSelected::other_policy;
    if (!port.partner.is(StateBit::synchronization)) return NotSelected::out_of_sync;
    return port.partner.is(StateBit::collecting) ? NotSelected::waiting : NotSelected::not_collecting;
}

} // namespace

/// Bonding tells keys and the partner of the active aggregator only, and no numbers and priorities of ports.
PortStatus status_of(const BondSystem& bond, const BondPort& port, bool has_link, bool carries) {
    PortStatus status;
    status.selected = port.aggregator != 0 && port.aggregator == bond.aggregator;
    status.aggregator = port.aggregator;
    status.actor.system = bond.actor;
    status.actor.state = port.actor_state;
    status.partner.state = port.partner_state;
    status.counters = port.counters;
    if (status.selected) {
        status.actor.key = bond.actor_key;
        status.partner.key = bond.partner_key;
        status.partner.system.address = bond.partner;
    }
    const auto state = receive_state(status.actor, has_link);
    status.fallback = carries && state == ReceiveState::defaulted;
    status.state = status.fallback ? "fallback" : teamd_name_of(state);
    status.receive = name_of(state);
    status.mux = name_of(mux_state(status.actor));
    status.periodic = name_of(!has_link                              ? PeriodicState::no_periodic
                              : status.partner.is(StateBit::timeout) ? PeriodicState::fast_periodic
                                                                     : PeriodicState::slow_periodic);
    status.not_selected = carries ? NotSelected::none : why_not(status, state);
    status.reason = sentence_for(status.not_selected, state == ReceiveState::expired);
    return status;
}

} // namespace teamo::lacp
