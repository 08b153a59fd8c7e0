// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The traffic that the processes' sockets receive, and where it arrives.
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "model/workers.h"

#include <string>
#include <vector>

namespace teamo {

/// Reads all TCP and UDP sockets of all processes at once, in all network namespaces (bpf/sockets.bpf.c). If
/// the kernel does not allow this program: as read_descriptors().
class SocketSource {
public:
    static SocketSource open();

    /// Ordered by process and cookie, each pair once. Covers processes of this PID namespace and those below.
    /// A UDP socket has no counts, and a CPU only if it is connected.
    Result<std::vector<SocketTraffic>> read();
    /// What it cannot see and why, as a message for the administrator; empty: no limitations.
    const std::string& limitations() const;

private:
    UniqueFd link_;
    std::string limitations_;
    bool ended_early_ = false; ///< the last read(), with more sockets than it takes
};

/// As SocketSource::read(), but without BPF and for TCP only: duplicates each descriptor (pidfd_getfd), which
/// costs seven times as much. A connection that its process closes while we hold the duplicate ends some
/// microseconds later. EPERM: no descriptor may be duplicated (CAP_SYS_PTRACE). ENOSYS: the kernel is older
/// than 5.6.
Result<std::vector<SocketTraffic>> read_descriptors();

/// Counts UDP packets by socket and CPU for a short time, at the root of the control groups
/// (bpf/sample.bpf.c), because UDP sockets do not store this themselves. Costs about 120 ns for each packet
/// while it counts.
class UdpSampler {
public:
    /// Loads the program; start() attaches it.
    static Result<UdpSampler> open();

    /// Starts to count the packets of all processes in and below `cgroup`. Does not replace programs of
    /// others. The kernel detaches the program when this object or this process ends.
    Result<> start(const std::string& cgroup);
    /// Stops counting. Returns a row for each socket and CPU, without the process.
    std::vector<SocketTraffic> stop();

private:
    UniqueFd program_, map_, link_;
    std::size_t cpus_ = 0;
};

/// Adds the processes in `sockets` that have each socket open: a row for each process. Rows of sockets that
/// no process has open are left out.
std::vector<SocketTraffic> with_processes(const std::vector<SocketTraffic>& sample,
                                          const std::vector<SocketTraffic>& sockets);

} // namespace teamo
