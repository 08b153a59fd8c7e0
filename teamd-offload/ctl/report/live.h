// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two readings of a team and of the machine's CPUs, and what they say of the time between them; pure.
#pragma once

#include "ctl/report/state.h"
#include "kernel/cpus/cpus.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

struct Reading {
    TeamState state;
    CpuReading cpus;
    std::chrono::steady_clock::time_point at;
};

double seconds_between(const Reading& earlier, const Reading& later);

/// Mean bytes of an skb, or "-": no packets, or `counts_skbs` is false, because cards may count packets on
/// the wire.
std::string mean_skb(double bytes, double packets, bool counts_skbs);

/// Per second.
struct PortRates {
    double tx_bytes = 0, tx_packets = 0, rx_bytes = 0, rx_packets = 0;
    bool operator==(const PortRates&) const = default;
};

/// Zeros for a port that is not in the earlier reading.
PortRates rates_of(const PortStatus& port, const Reading& earlier, double seconds);

/// The load of each CPU that is in both readings: what was neither idle nor stolen, divided into work and
/// interrupts as the kernel's samples are.
std::map<unsigned, CpuLoad> loads_between(const Reading& earlier, const Reading& later);

/// What the team did and what it cost. The CPU time is that of the whole machine, other work included:
/// without the idle time, which the kernel measures exactly, where it only samples user, system and interrupt
/// time.
struct LiveFigures {
    struct Port {
        std::string name;
        PortRates rates;
    };
    double seconds = 0;
    bool counts_skbs = true; ///< otherwise cards may count, which see the packets on the wire
    std::vector<Port> ports;
    PortRates team;
    std::map<unsigned, CpuLoad> cpus;
    double busy_cpus = 0; ///< CPUs that were not idle, 0 to their number
    /// Microseconds of CPU time for each KiB sent and received: netperf's service demand. None without
    /// traffic.
    std::optional<double> service_demand;
    /// Throughput, sent and received, by CPU: megabits per second for each per cent of one CPU. None if idle.
    std::optional<double> efficiency;
};
LiveFigures live_figures(const Reading& earlier, const Reading& later);

std::string live_text(const std::string& team, const LiveFigures& figures);
json::Value live_json(const std::string& team, const LiveFigures& figures);

} // namespace teamo::ctl
