// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/all_ports.h"

#include <algorithm>

namespace teamo {

Decision AllPorts::step(std::span<const Candidate> ports) {
    const auto is_wanted = [](const Candidate& port) { return port.up && !port.last; };
    const bool wanted = std::ranges::any_of(ports, is_wanted);
    Decision decision;
    for (const auto& port : ports) {
        decision.receive.push_back(port.port);
        if (port.up) (port.last && wanted ? decision.standby : decision.transmit).push_back(port.port);
    }
    return decision;
}

} // namespace teamo
