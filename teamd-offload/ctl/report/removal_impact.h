// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a port's leaving would touch (port remove --dry-run); pure.
#pragma once

#include "ctl/report/load.h"
#include "ctl/report/offload_change.h"
#include "kernel/files/socket_owners.h"
#include "kernel/netlink/tcp_sockets.h"

namespace teamo::ctl {

struct Flow {
    TcpSocket socket;
    std::optional<std::uint8_t> bucket; ///< none: the runner does not hash
    std::optional<SocketOwner> owner;
    bool operator==(const Flow&) const = default;
};

struct Flows {
    std::vector<Flow> by_port; ///< those that leave by it
    std::size_t all = 0;       ///< connections of the team
    std::size_t untold = 0;    ///< of these, those whose bucket cannot be told: no neighbour, or by CPU
};

struct RemovalImpact {
    std::string port;
    bool transmits = false;
    std::size_t buckets = 0;
    std::optional<double> bucket_load;        ///< bytes per second by these buckets, where they are counted
    double port_load = 0;                     ///< bytes per second by the port
    std::vector<std::string> remaining_ports; ///< ports that carry without it
    Flows flows;
    json::Array workers;            ///< those that are bound, as the state has them
    std::size_t workers_served = 0; ///< of these, those that receive most by the port
    OffloadChange offloads;
    Capacity rest;
    double team_load = 0;
    std::optional<std::string> refusal; ///< why the rest cannot carry; none: it can
};

/// All but flows and offloads. `state` has the port.
RemovalImpact removal_impact_of(const TeamState& state, const PortStatus& port, const Rates& rates);

/// Whether a connection's packets leave by `port` now. None: not to be told (`bucket` is then none too).
std::optional<bool> leaves_by(const TeamState& state, const PortStatus& port,
                              const std::optional<std::uint8_t>& bucket);

std::string text_of(const RemovalImpact& leaving);
json::Value json_of(const std::string& team, const RemovalImpact& leaving);

} // namespace teamo::ctl
