// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of a running team, for the state document, teamoctl and the log.
#pragma once

#include "base/named.h"
#include "model/balance_status.h"
#include "model/benchmark.h"
#include "model/config.h"
#include "model/interrupt_status.h"
#include "model/offload_status.h"
#include "model/worker_status.h"

#include <sys/types.h>

namespace teamo {

enum class Duplex : std::uint8_t { half, full, unknown };

/// The link as ethtool reports it.
struct LinkStatus {
    bool up = false;
    std::optional<std::uint32_t> speed; ///< Mbit/s; none: the device does not report it
    Duplex duplex = Duplex::unknown;
    bool operator==(const LinkStatus&) const = default;
};

struct WatchStatus {
    LinkWatch watch;
    bool up = false;
    std::uint32_t down_count = 0; ///< transitions to down since the port joined
    std::uint32_t missed = 0;     ///< ping watches: consecutive probes without an answer
    bool operator==(const WatchStatus&) const = default;
};

/// Counted by the datapath; a GSO packet counts once, with its whole length.
struct PortCounters {
    std::uint64_t tx_packets = 0, tx_bytes = 0, rx_packets = 0, rx_bytes = 0, rx_dropped = 0;
    bool operator==(const PortCounters&) const = default;
};

struct PortStatus {
    std::string name;
    IfIndex ifindex;
    MacAddress address; ///< at present
    LinkStatus link;
    bool link_up = false; ///< the result of all its watches
    std::vector<WatchStatus> watches;
    bool transmits = false, receives = false; ///< in the datapath, at present
    std::uint32_t buckets = 0;                ///< hash buckets that use it at present
    PortCounters counters;
    bool operator==(const PortStatus&) const = default;
};

/// Whether the datapath itself sees that a port lost its link, so that the next packet avoids the port, also
/// while no daemon runs.
struct LinkSight {
    bool sees = false;
    std::string reason; ///< why not; empty if it sees them
    bool operator==(const LinkSight&) const = default;
};

/// A change that the kernel refused and that is still missing.
struct RefusedStatus {
    std::string where; ///< the team or a device
    std::string what;  ///< as it was logged
    bool operator==(const RefusedStatus&) const = default;
};

struct TeamStatus {
    std::string name;
    IfIndex ifindex;
    MacAddress address;
    LinkStatus link; ///< up: carrier; speed: sum of the ports that transmit
    RunnerConfig runner;
    std::optional<std::string> active_port; ///< activebackup: name of the active port
    std::string datapath;                   ///< "bpf" or "team"
    std::string device_kind;                ///< "veth", "netkit" or "team"
    LinkSight link_sight;
    std::vector<PortStatus> ports;        ///< in the order they joined
    std::optional<BalanceStatus> balance; ///< for teams that hash
    std::optional<OffloadStatus> offload;
    std::optional<InterruptStatus> interrupts;
    std::optional<WorkersStatus> workers;
    std::map<std::string, BenchmarkResult> benchmarks{}; ///< by step: the last result
    std::vector<RefusedStatus> refused{};
    // "setup" of the state document
    pid_t pid = 0;
    std::string pid_file;
    std::uint32_t debug_level = 0;
    bool daemonized = false;
    bool operator==(const TeamStatus&) const = default;
};

} // namespace teamo
