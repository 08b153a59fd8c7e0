// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Broadcasts and multicasts as they come in by each port, before any datapath sees them: what a switch floods
// shows what it takes the ports for.
#pragma once

#include "base/handle.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace teamo {

struct GroupFrame {
    IfIndex port;
    MacAddress source;
    std::string bytes;              ///< the first ones of it, GroupFrames::most_bytes at most
    std::chrono::nanoseconds at{0}; ///< when it came, by the wall clock
    bool operator==(const GroupFrame&) const = default;
};

class GroupFrames {
public:
    static constexpr std::size_t most_bytes = 192;
    /// Of each port.
    static constexpr std::size_t most_frames = 4096;

    /// Listens from now on. Frames with a VLAN tag and those that no switch passes on (01:80:c2:00:00:0x) are
    /// left out. EPERM: CAP_NET_RAW is missing. ENODEV: a port is gone.
    static Result<GroupFrames> open(std::span<const IfIndex> ports);
    /// What has come since then or the last time, as far as there was room for it.
    std::vector<GroupFrame> take();

private:
    struct Ear {
        IfIndex port;
        UniqueFd socket;
    };
    std::vector<Ear> ears_;
};

} // namespace teamo
