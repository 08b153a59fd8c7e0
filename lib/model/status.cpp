// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/status.h"

#include <algorithm>

namespace teamo {

bool can_take_over(const PortStatus& port, const std::vector<PortStatus>& ports) {
    if (!port.link_up || !port.lacp) return port.link_up;
    const auto falls_back = [](const PortStatus& other) { return other.lacp && other.lacp->fallback; };
    return port.lacp->state == "current" ||
           (port.lacp->state == "defaulted" && std::ranges::any_of(ports, falls_back));
}

} // namespace teamo
