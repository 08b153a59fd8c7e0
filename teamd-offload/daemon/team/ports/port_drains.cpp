// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which ports are drained, by hand or by the configuration, and how far they are.
#include "daemon/team/ports/port_set.h"
#include "lacp/system.h"

#include <algorithm>

namespace teamo {

const PortDrain& PortSet::noted_drain(const TeamPort& port) const {
    static const PortDrain nothing;
    const auto* entry = context_.journal.port(port.index);
    return entry == nullptr ? nothing : entry->drain;
}

Result<> PortSet::can_drain() const {
    const auto& datapath = *context_.datapath;
    if (datapath.kernel_hashes())
        return fail(EOPNOTSUPP, "the kernel chooses the ports by its own hash (tls-hw-tx-offload)");
    if (datapath.is_bond() && !context_.is_activebackup() && !datapath.steers())
        return fail(EOPNOTSUPP,
                    "bonding chooses the slaves, because the bond is not steered; see: teamoctl " +
                        context_.name() + " doctor");
    return {};
}

/// Without buckets there is nothing that could move in gaps: it stops at once.
DrainPhase PortSet::drain_phase(const TeamPort& port) const {
    const auto& noted = noted_drain(port);
    if (!noted.by_hand.value_or(port.config.drain) || !can_drain()) return DrainPhase::none;
    const auto& runner = context_.config().runner;
    const bool by_bucket = leaves_by_bucket(mode_of(runner), hash_fields_of(runner));
    return std::max(noted.phase, by_bucket ? DrainPhase::moving : DrainPhase::emptying);
}

/// Whether no port that is not drained has a link and answers.
bool PortSet::is_alone(const TeamPort& port) const {
    return std::ranges::none_of(ports_, [&](const TeamPort& other) {
        return other.index != port.index && other.had_link && counts_as_up(other.watch) && !is_drained(other);
    });
}

/// Drained by force: not used even if no other port can carry. LACP goes on with it.
bool PortSet::is_kept_out(const TeamPort& port) const {
    return !context_.runs_lacp() && is_silent(drain_phase(port)) && noted_drain(port).forced &&
           is_alone(port);
}

DrainStatus PortSet::drain_status(const TeamPort& port) const {
    const auto& noted = noted_drain(port);
    if (!is_drained(port)) return {};
    return {.phase = drain_phase(port),
            .by_hand = noted.by_hand.has_value(),
            .forced = noted.forced,
            .received = subsystems_.drains->received(port.index)};
}

std::vector<Drains::Port> PortSet::drain_ports(const Tables& tables, const lacp::System* lacp) const {
    const bool by_bucket = leaves_by_bucket(tables.mode, tables.hash_fields);
    std::vector<Drains::Port> list;
    for (const auto& port : ports_) {
        const auto phase = drain_phase(port);
        if (phase == DrainPhase::none) continue;
        const bool transmits = (tables.transmit & bit(port.slot)) != 0;
        bool any_bucket = false;
        for (std::size_t bucket = 0; transmits && by_bucket && bucket < bucket_count; ++bucket)
            any_bucket = any_bucket || leaves_by(tables, bucket) == port.slot;
        list.push_back({.index = port.index,
                        .slot = port.slot,
                        .name = port.name,
                        .phase = phase,
                        .view = {.carries = (by_bucket ? any_bucket : transmits) &&
                                            !(noted_drain(port).forced && is_alone(port)),
                                 .partner_sends = lacp != nullptr && lacp->partner_sends(port.index),
                                 .probes_per_second = probes_per_second(port.config.link_watches),
                                 .stands_by = context_.is_activebackup() ||
                                              kind_of(tables.hash_fields) == HashKind::by_source}});
    }
    return list;
}

void PortSet::drain(const TeamPort& port, bool forced) {
    const bool begins = !is_drained(port);
    auto& noted = context_.journal.port(port.index)->drain;
    noted.by_hand = true;
    noted.forced = forced;
    if (begins) context_.log.port(Level::notice, port.name, " is to be drained");
}

void PortSet::undrain(const TeamPort& port) {
    if (!is_drained(port)) return;
    subsystems_.drains->forget(port.index);
    auto& noted = context_.journal.port(port.index)->drain;
    noted = {};
    if (port.config.drain) noted.by_hand = false;
    context_.log.port(Level::notice, port.name, " is drained no more");
}

/// So that a later daemon goes on from there.
void PortSet::note_drain_phases() {
    for (const auto& port : ports_) {
        auto* entry = context_.journal.port(port.index);
        if (entry == nullptr) continue;
        auto& phase = entry->drain.phase;
        if (!entry->drain.by_hand.value_or(port.config.drain))
            phase = DrainPhase::none;
        else
            phase = subsystems_.drains->phase(port.index).value_or(phase);
    }
}

} // namespace teamo
