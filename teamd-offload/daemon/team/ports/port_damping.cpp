// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports that are used only while no other can, those of them that lose their link again and again, and the
// one that need not wait because no other can carry.
#include "daemon/team/ports/port_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo {
namespace {

std::int64_t seconds_of(Clock::duration time) {
    return std::chrono::ceil<std::chrono::seconds>(time).count();
}

} // namespace

std::optional<Damping> PortSet::damping_of(const PortConfig& config, const PortBefore& before) {
    if (!config.damping) return std::nullopt;
    return Damping(*config.damping, before.damping.value_or(DampingMemory{}));
}

bool PortSet::is_last(const TeamPort& port) const {
    return subsystems_.offloads->is_last(port.index) || subsystems_.losses->is_last(port.index) ||
           (port.damping && port.damping->is_suppressed());
}

/// Call it after the port's watches. What the administrator has set down has not lost its link; that shows
/// once linkwatch has processed the loss.
void PortSet::step_damping(TeamPort& port, Clock::time_point now) {
    auto& damping = port.damping;
    const auto* link = context_.link(port.index);
    port.loss_is_new = port.loss_is_new || port.watch.has_lost();
    if (damping && port.loss_is_new && link != nullptr && !loss_is_pending(*link)) {
        if (link->is_up()) damping->note_loss(now);
        port.loss_is_new = false;
    }
    const auto change = damping ? damping->step(now) : Damping::Change::none;
    switch (change) {
    case Damping::Change::none: break;
    case Damping::Change::suppressed:
        context_.log.port(
            Level::warning, port.name,
            fmt::format(" loses its link again and again and is used only while no other port can, until it "
                        "has kept its link for {} s (damping, penalty {})",
                        seconds_of(*damping->deadline() - now), damping->status(now).penalty));
        break;
    case Damping::Change::reused:
        context_.log.port(
            Level::notice, port.name,
            fmt::format(" is no longer damped, after {} s", seconds_of(damping->suppressed_for(now))));
        break;
    }
    if (auto* entry = context_.journal.port(port.index); entry != nullptr)
        entry->damping = damping ? std::optional(damping->memory()) : std::nullopt;
}

/// While no port carries, the best one with a link does not wait for its delay_up, as with bonding
/// (bond_main.c: bond_miimon_inspect, ignore_updelay). The others wait.
void PortSet::end_needless_delay() {
    if (std::ranges::any_of(
            ports_, [this](const TeamPort& port) { return port.had_link && counts_as_up(port.watch); }))
        return;
    const auto rank = [this](const TeamPort& port) { return std::pair(!is_last(port), port.config.prio); };
    TeamPort* best = nullptr;
    for (auto& port : ports_) {
        auto without_delay = port.watch;
        without_delay.end_delay_up();
        if (port.had_link && counts_as_up(without_delay) && (best == nullptr || rank(port) > rank(*best)))
            best = &port;
    }
    if (best != nullptr) best->watch.end_delay_up();
}

} // namespace teamo
