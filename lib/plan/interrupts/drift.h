// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Who moved an interrupt, as far as that can be told: the kernel keeps no record of it.
#pragma once

#include <string>

namespace teamo {

struct DriftFacts {
    bool cpus_changed = false; ///< a CPU went or came since the last look
    bool came_up = false;      ///< the port's vectors were made anew: it came up, its driver reset it
    bool as_hint = false;      ///< it is where its driver's affinity_hint says
    std::string irqbalance{};  ///< "irqbalance (pid 812)" where one runs that was not kept out
    std::string udev{};        ///< "IRQAffinityPolicy=spread in /etc/systemd/network/10-x.link"
};

struct DriftCause {
    std::string text;    ///< "by irqbalance (pid 812)"
    bool kernel = false; ///< the kernel's or the driver's own doing, which ends by itself: no contest
};

/// The likeliest, from the surest to the last resort.
DriftCause cause_of(const DriftFacts& facts);

} // namespace teamo
