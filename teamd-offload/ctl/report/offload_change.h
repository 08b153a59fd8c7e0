// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which offloads traffic loses and gains when it moves from one port to others; pure.
#pragma once

#include "model/offload.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace teamo::ctl {

struct PortOffloads {
    Features features;         ///< empty: not known
    std::uint32_t gso_max = 0; ///< gso_max_size in bytes; 0: not known
};
using OffloadsByPort = std::map<std::string, PortOffloads, std::less<>>;

struct OffloadChange {
    std::map<std::string, std::vector<std::string>>
        lost;                        ///< offloads of the port, and the remaining ports without them
    std::vector<std::string> gained; ///< offloads of all remaining ports but not of the port
    std::uint32_t gso_max = 0, gso_max_after = 0; ///< the team's, before and after the removal; 0: not known
    bool operator==(const OffloadChange&) const = default;
};

/// Ignores ports without an entry or with unknown features.
OffloadChange offload_change(const std::string& port, const std::vector<std::string>& remaining_ports,
                             const OffloadsByPort& ports);

} // namespace teamo::ctl
