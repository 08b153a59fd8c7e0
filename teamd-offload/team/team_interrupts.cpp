// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What placing interrupts needs to know of a team.
#include "team/team.h"

#include <linux/if.h>

namespace teamo {

Result<> Team::start_interrupts(sd_event* loop) {
    auto interrupts = Interrupts::make(loop, log_, name(), configuration_.team.interrupts,
                                       {.links = [this]() -> const Links& { return observer_->links(); },
                                        .set = [this](IfIndex port) -> SetCpus* {
                                            auto* was = before(port);
                                            return was == nullptr ? nullptr : &was->cpus;
                                        },
                                        .keep = [this] { return keep_journal(); }});
    if (!interrupts) return tl::unexpected(interrupts.error());
    interrupts_ = std::move(*interrupts);
    return {};
}

/// A port whose speed is not known counts as the slowest of today's.
std::vector<Interrupts::Port> Team::ports_with_interrupts() const {
    constexpr double usual = 1000; // Mbit/s
    const bool backup = std::holds_alternative<ActiveBackupRunner>(configuration_.team.runner);
    std::vector<Interrupts::Port> list;
    for (const auto& port : ports_) {
        const auto* link = find_link(observer_->links(), port.index);
        list.push_back({.index = port.index,
                        .name = link == nullptr ? port.name : link->name,
                        .up = link != nullptr && (link->flags & IFF_UP) != 0,
                        .load = port.modes.speed ? *port.modes.speed / usual : 1,
                        .standby = backup && decision_.active != port.index});
    }
    return list;
}

} // namespace teamo
