// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/lacp_runner.h"

#include <algorithm>
#include <vector>

namespace teamo {

Decision Lacp::step(std::span<const Candidate> ports, Clock::time_point now) {
    std::vector<lacp::Link> links;
    for (const auto& port : ports)
        links.push_back({.port = port.port,
                         .number = port.slot.value,
                         .up = port.up,
                         .held = port.held,
                         .speed = port.speed,
                         .duplex = port.duplex,
                         .priority = port.lacp_prio,
                         .key = port.lacp_key,
                         .preference = port.prio,
                         .sticky = port.sticky,
                         .losses = port.carrier_losses});
    system_.update(links, now);

    const auto& carrying = system_.carrying();
    const auto distributes = [&](const Candidate& port) {
        return std::ranges::find(carrying.distributing, port.port) != carrying.distributing.end();
    };
    const bool wanted =
        std::ranges::any_of(ports, [&](const Candidate& port) { return distributes(port) && !port.last; });
    Decision decision;
    decision.receive = carrying.collecting;
    decision.has_carrier = carrying.has_carrier;
    for (const auto& port : ports)
        if (distributes(port))
            (port.last && wanted ? decision.standby : decision.transmit).push_back(port.port);
    return decision;
}

} // namespace teamo
