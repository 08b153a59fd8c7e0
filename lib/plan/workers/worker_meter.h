// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The traffic that each process received in a window, by CPU and port, from the counters of its sockets.
#pragma once

#include "model/workers.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Maps a packet to its port. All packets of a team have the team's device, so usually the NAPI id shows the
/// port, or the CPU if the driver sets no NAPI id.
struct PortTraces {
    std::map<unsigned, std::string> napi_ids; ///< NAPI numbers of the ports' queues
    std::map<IfIndex, std::string> devices;   ///< the ports themselves
    std::map<unsigned, std::string> cpus;     ///< CPUs that serve the interrupts of exactly one port
};

class WorkerMeter {
public:
    using Traffic = std::map<pid_t, ProcessTraffic>;

    /// `sockets`: all sockets with their rising counters; the traffic counts for the CPU and port of the last
    /// packet. `sample`: UDP traffic within the window, multiplied by `scale` if only a part was sampled.
    /// The first window is empty: there is nothing to compare with. The traffic of a socket that several
    /// processes have open is divided among them.
    Traffic step(std::span<const SocketTraffic> sockets, const PortTraces& ports,
                 std::span<const SocketTraffic> sample = {}, double scale = 1);

private:
    struct Counted {
        std::uint64_t bytes = 0, packets = 0;
    };
    std::map<std::uint64_t, Counted> before_; ///< by cookie
    bool first_ = true;
};

} // namespace teamo
