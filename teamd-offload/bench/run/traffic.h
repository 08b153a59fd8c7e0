// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The load of a case, and what it does in a time.
#pragma once

#include "bench/load/clients.h"
#include "bench/run/meter.h"

#include <chrono>
#include <map>

namespace teamo::bench {

/// The two ends of a case: of a stage, or a running team and its peer.
struct Ends {
    /// Where connections from the host go to, one for each; and those from the far end.
    std::vector<IpAddress> far_addresses{}, host_addresses{};
    std::uint16_t port = 0;
    std::string congestion_control{}; ///< of the connections; empty: as the kernels choose
    /// Called by each client's thread first: enters the network namespace of the end.
    std::function<Result<>()> enter_host{}, enter_far{};
    CpuList host_threads{}, far_threads{};          ///< where the clients run; empty: anywhere
    std::optional<CpuList> host_cpus{}, far_cpus{}; ///< CPUs that work for that end alone
    std::function<Result<std::map<std::string, PortTraffic>>()> read_ports{};
    /// What the servers of an end did so far.
    std::function<Result<Totals>()> host_server{}, far_server{};
    /// CPU seconds that the team's daemon of an end took so far. Empty, or none: it has no daemon.
    std::function<std::optional<double>()> host_daemon{}, far_daemon{};
    /// The far server may be one of several, or have other clients: what is sent counts where it is sent.
    bool far_is_shared = false;
};

/// The ends at a moment.
struct Snapshot {
    Reading meters{};
    Totals host_clients{}, far_clients{}, host_server{}, far_server{};
    std::optional<double> host_daemon{}, far_daemon{}; ///< seconds of CPU time
    std::map<std::string, PortTraffic> ports{};
};

/// Without latencies. Pure.
Sample sample_between(const Ends& ends, const Snapshot& before, const Snapshot& after);

/// Runs the case once. Nothing else may use the ends meanwhile.
Result<Sample> measure_round(const Ends& ends, const Case& what, std::chrono::milliseconds length);

} // namespace teamo::bench
