// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a switch that aggregates the ports never does: send the same frame by two of them, or the team's own
// one back. Pure.
#pragma once

#include "kernel/packets/multicast_capture.h"

#include <set>
#include <span>

namespace teamo::ctl {

struct RepeatedFrames {
    std::size_t seen = 0;   ///< different ones
    std::size_t twice = 0;  ///< of them by more than one port at about the same time
    std::size_t own = 0;    ///< from the team's own address
    std::set<IfIndex> by{}; ///< those ports, and where its own came back
    bool operator==(const RepeatedFrames&) const = default;
};

/// A sender may say the same again soon, and a switch that aggregates may choose another port for it then:
/// only what comes within a few milliseconds is one frame.
RepeatedFrames repeated_frames(std::span<const GroupFrame> frames, const MacAddress& own);

} // namespace teamo::ctl
