// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/ip_address.h"
#include "base/named.h"
#include "base/result.h"
#include "bench/load/tally.h"
#include "bench/run/plan.h"
#include "model/status.h"

#include <functional>
#include <map>
#include <set>

namespace teamo::bench {

/// A running team, as far as it is measured. Nothing of it is changed.
struct RunningTeam {
    std::map<std::string, IfIndex> ports{};
    double link_mbits = 0; ///< of the slowest port that carries; 0: unknown
    double mbits = 0;      ///< that the team can carry each way; 0: unknown
    bool tso = false;      ///< all ports have it
    std::uint32_t mtu = 1500;
    std::string datapath{}, driver{}; ///< driver: of the ports
    /// What the datapath itself counted, by port: a GSO packet once. None: only the kernel counts.
    std::function<Result<std::map<std::string, PortCounters>>()> read_counters{};
};

/// The team of that name, as its daemon and its ports show it.
Result<RunningTeam> running_team(const std::string& name);

/// Asks the server at a peer for its totals. ETIMEDOUT: it does not answer within `longest`.
Result<Totals> read_totals_of(const IpAddress& peer, std::uint16_t port,
                              std::chrono::milliseconds longest = std::chrono::seconds(10));

/// Of all peers that serve the clients: a peer that died within a round is an error. With several addresses
/// zeros: they can be one machine, whose CPU time would count twice.
Result<Totals> read_totals_of_all(const std::set<IpAddress>& peers, std::uint16_t port,
                                  std::chrono::milliseconds longest = std::chrono::seconds(10));

/// Measures a team against `teamo-bench serve` at options.peers.
Result<Results> measure_peer(const Options& options, const RunningTeam& team);

} // namespace teamo::bench
