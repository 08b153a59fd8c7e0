// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What removing a port would affect (port remove --dry-run); pure.
#pragma once

#include "ctl/report/state.h"
#include "kernel/files/process_files.h"
#include "kernel/netlink/tcp_sockets.h"

namespace teamo::ctl {

struct Flow {
    TcpSocket socket;
    std::optional<std::uint8_t> bucket; ///< none: the runner does not hash
    std::optional<SocketOwner> owner;
    bool operator==(const Flow&) const = default;
};

struct Flows {
    std::vector<Flow> by_port; ///< the connections that leave by the port
    std::size_t all = 0;       ///< connections of the team
    std::size_t unknown = 0;   ///< of these, without a known bucket: no neighbour entry, or a hash by CPU
};

/// Which offloads traffic loses and gains when it moves from the port to the others.
struct OffloadChange {
    std::map<std::string, std::vector<std::string>>
        lost;                        ///< offloads of the port, and the remaining ports without them
    std::vector<std::string> gained; ///< offloads of all remaining ports but not of the port
    std::uint32_t gso_max = 0, gso_max_after = 0; ///< the team's, before and after the removal; 0: not known
    bool operator==(const OffloadChange&) const = default;
};

struct RemovalImpact {
    std::string port;
    bool transmits = false;
    std::size_t buckets = 0;
    std::optional<double> bucket_load;        ///< bytes per second of these buckets; none: not counted
    double port_load = 0;                     ///< bytes per second by the port
    std::vector<std::string> remaining_ports; ///< ports that carry without it
    Flows flows;
    std::vector<WorkerStatus> workers; ///< the bound workers
    std::size_t workers_served = 0;    ///< of these, workers that receive most by the port
    OffloadChange offloads;
    FailureDomain shared; ///< what all remaining ports share, and did not with this port
    Capacity capacity;    ///< of the remaining ports
    double team_load = 0;
    std::optional<std::string> refusal; ///< why the remaining ports cannot carry the load; none: they can
};

/// Leaves flows and offloads empty. The port must be in `state`.
RemovalImpact removal_impact_of(const TeamState& state, const PortStatus& port, const Rates& rates);

/// Whether a connection's packets leave by `port` now. None: not known, because `bucket` is not known.
std::optional<bool> leaves_by(const TeamState& state, const PortStatus& port,
                              const std::optional<std::uint8_t>& bucket);

struct PortOffloads {
    Features features;         ///< empty: not known
    std::uint32_t gso_max = 0; ///< gso_max_size in bytes; 0: not known
};
using OffloadsByPort = std::map<std::string, PortOffloads, std::less<>>;

/// What all of `after` have in common and not all of `before`.
FailureDomain newly_shared(const FailureDomain& before, const FailureDomain& after);

/// Ignores ports without an entry or with unknown features.
OffloadChange offload_change(const std::string& port, const std::vector<std::string>& remaining_ports,
                             const OffloadsByPort& ports);

std::string text_of(const RemovalImpact& impact);
json::Value json_of(const std::string& team, const RemovalImpact& impact);

} // namespace teamo::ctl
