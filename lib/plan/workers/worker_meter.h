// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What each process took in within a window, by CPU and by port, out of what its sockets have counted.
#pragma once

#include "model/workers.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// How one tells by which port a packet came. A team's packets all come in by the team's device, so mostly
/// the poll says it, and where no driver tells the poll, the CPU.
struct PortTraces {
    std::map<unsigned, std::string> napi_ids; ///< NAPI numbers of the ports' queues
    std::map<IfIndex, std::string> devices;   ///< the ports themselves
    std::map<unsigned, std::string> cpus;     ///< CPUs that serve the interrupts of one port only
};

class WorkerMeter {
public:
    using Traffic = std::map<pid_t, ProcessTraffic>;

    /// `sockets`: all there are, with counters that rise; each counts where its last packet came. `sample`:
    /// what was counted of UDP within the window, times `scale` where it was sampled for a part of it only.
    /// The first window is empty, since nothing is known of the time before. What several processes have open
    /// is shared out among them.
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
