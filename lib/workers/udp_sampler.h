// SPDX-License-Identifier: LGPL-2.1-or-later
//
// UDP packets by socket and CPU, counted for a short while at the root of the control groups
// (bpf/sample.bpf.c): a UDP socket itself remembers neither. While it counts, each packet costs some 120 ns.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <memory>
#include <string>
#include <vector>

namespace teamo {

class UdpSampler {
public:
    /// Loads the program; it counts nothing yet.
    static Result<UdpSampler> open();

    UdpSampler(UdpSampler&&) noexcept;
    UdpSampler& operator=(UdpSampler&&) noexcept;
    ~UdpSampler(); ///< who counts does so no more

    /// From now on packets are counted, of the sockets of all processes below `cgroup`, beside whatever
    /// programs others have there. Nothing stays behind, however this process ends.
    Result<> start(const std::string& cgroup);
    /// No longer. What came meanwhile, a row for each socket and CPU; whose they are is not known here.
    Result<std::vector<SocketTraffic>> stop();

private:
    struct Program;
    explicit UdpSampler(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

/// Where the unified hierarchy's root is (/proc/self/mountinfo). ENOENT: nowhere that can be reached.
Result<std::string> find_unified_cgroup();

/// The sample's rows with the processes that have the sockets open by `sockets`: a row for each. Those that
/// nobody has open any more are left out.
std::vector<SocketTraffic> with_processes(const std::vector<SocketTraffic>& sample,
                                          const std::vector<SocketTraffic>& sockets);

} // namespace teamo
