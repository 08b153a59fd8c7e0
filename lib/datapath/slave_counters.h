// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The counters of ports that the kernel counts itself: those of their devices, from when they joined.
#pragma once

#include "kernel/netlink/netlink_socket.h"
#include "model/status.h"

#include <array>
#include <map>

namespace teamo {

class SlaveCounters {
public:
    static Result<SlaveCounters> open();

    /// Counts from now on, unless the port is counted already.
    void begin(IfIndex port);
    void forget(IfIndex port) { known_.erase(port); }
    /// `ports` by slot; all others are forgotten. What cannot be read stays as it was.
    std::array<PortCounters, max_ports + 1> read(const std::array<IfIndex, max_ports + 1>& ports);

private:
    explicit SlaveCounters(NetlinkSocket socket) : socket_(std::move(socket)) {}
    NetlinkSocket socket_;
    struct Known {
        PortCounters baseline{};
        PortCounters last{}; ///< since the baseline
    };
    std::map<IfIndex, Known> known_;
};

} // namespace teamo
