// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts UDP packets by socket and CPU for a short time, at the root of the control groups
// (bpf/sample.bpf.c), because UDP sockets do not store this themselves. Costs about 120 ns for each packet
// while it counts.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <memory>
#include <string>
#include <vector>

namespace teamo {

class UdpSampler {
public:
    /// Loads the program; start() attaches it.
    static Result<UdpSampler> open();

    UdpSampler(UdpSampler&&) noexcept;
    UdpSampler& operator=(UdpSampler&&) noexcept;
    ~UdpSampler(); ///< stops counting

    /// Starts to count the packets of all processes in and below `cgroup`. Does not replace programs of
    /// others. The kernel detaches the program if this process ends.
    Result<> start(const std::string& cgroup);
    /// Stops counting. Returns a row for each socket and CPU, without the process.
    Result<std::vector<SocketTraffic>> stop();

private:
    struct Program;
    explicit UdpSampler(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

/// The path of the unified hierarchy's root, from /proc/self/mountinfo. ENOENT: not mounted, or not
/// reachable.
Result<std::string> find_unified_cgroup();

/// Adds the processes in `sockets` that have each socket open: a row for each process. Rows of sockets that
/// no process has open are left out.
std::vector<SocketTraffic> with_processes(const std::vector<SocketTraffic>& sample,
                                          const std::vector<SocketTraffic>& sockets);

} // namespace teamo
