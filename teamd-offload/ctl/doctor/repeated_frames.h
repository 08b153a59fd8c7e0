// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A switch that aggregates the ports never sends the same frame by two of them, nor the team's own frames
// back. Pure.
#pragma once

#include "kernel/packets/packet_socket.h"

#include <set>
#include <span>

namespace teamo::ctl {

struct RepeatedFrames {
    std::size_t different = 0;  ///< frames, each counted once, without the team's own
    std::size_t duplicated = 0; ///< of these, frames that arrived by several ports at about the same time
    std::size_t own = 0;        ///< frames from the team's own address
    std::set<IfIndex> ports{};  ///< where duplicated and own frames arrived
    bool operator==(const RepeatedFrames&) const = default;
};

/// Frames with equal bytes are one frame only if they arrive within a few milliseconds: a sender may repeat a
/// frame soon, and a switch that aggregates may then choose another port.
RepeatedFrames repeated_frames(std::span<const GroupFrame> frames, const MacAddress& own);

} // namespace teamo::ctl
