// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The probable cause of an interrupt's move: the kernel keeps no record of it.
#pragma once

#include <string>

namespace teamo {

struct DriftFacts {
    bool cpus_changed = false; ///< a CPU went offline or came online since the last pass
    bool came_up = false;      ///< the port came up or its driver reset it, which makes new vectors
    bool as_hint = false;      ///< its affinity is the driver's affinity_hint
    std::string irqbalance{};  ///< "irqbalance (pid 812)" if one runs that does not honour our ban
    std::string udev{};        ///< "IRQAffinityPolicy=spread in /etc/systemd/network/10-x.link"
};

struct DriftCause {
    std::string text;    ///< "probably by irqbalance (pid 812)"
    bool kernel = false; ///< by the kernel or the driver, which does not repeat it: not contested
};

/// The most probable cause; facts that are certain come first.
DriftCause cause_of(const DriftFacts& facts);

} // namespace teamo
