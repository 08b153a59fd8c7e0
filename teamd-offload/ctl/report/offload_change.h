// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which offloads traffic loses and gains when it goes from one port to others; pure.
#pragma once

#include "model/features.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace teamo::ctl {

struct PortOffloads {
    Features features;         ///< empty: not known
    std::uint32_t gso_max = 0; ///< bytes of the largest packet that it takes whole; 0: not known
};
using OffloadsByPort = std::map<std::string, PortOffloads, std::less<>>;

struct OffloadChange {
    std::map<std::string, std::vector<std::string>>
        lost;                                    ///< what the port does, and who of its heirs does not
    std::vector<std::string> gained;             ///< what every heir does and the port does not
    std::uint32_t gso_max = 0, gso_max_then = 0; ///< the team's, the smallest of its ports'; 0: not known
    bool operator==(const OffloadChange&) const = default;
};

/// Ports without an entry, or whose features are not known, are not judged.
OffloadChange offload_change(const std::string& port, const std::vector<std::string>& remaining_ports,
                             const OffloadsByPort& ports);

} // namespace teamo::ctl
