// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/mux_machine.h"

namespace teamo::lacp {

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
    wait_while_ = state == waiting ? std::optional(now + wait_) : std::nullopt;
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

} // namespace teamo::lacp
