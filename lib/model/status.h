// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of a running team, for the state document, teamoctl and the log.
#pragma once

#include "model/attached.h"
#include "model/balance.h"
#include "model/config.h"
#include "model/damping.h"
#include "model/drain.h"
#include "model/failure_domain.h"
#include "model/guard.h"
#include "model/interrupts.h"
#include "model/lacp.h"
#include "model/observation.h"
#include "model/programs.h"

#include <algorithm>

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

/// The kernel's error counters of a device, with its packets (IFLA_STATS64).
struct LinkErrors {
    std::uint64_t rx_packets = 0, tx_packets = 0;
    std::uint64_t rx_crc = 0, rx_missed = 0; ///< rx_crc_errors, rx_missed_errors
    std::uint64_t tx = 0;                    ///< tx_errors
    bool operator==(const LinkErrors&) const = default;
};

/// Whether a port loses packets although its link is up.
struct LossStatus {
    std::string what{};           ///< a sentence; empty: nothing is known
    std::optional<double> lost{}; ///< TCP segments sent again, per mille; none: too few were sent
    bool watched = false;         ///< by the link watch "loss"
    bool is_out = false;          ///< used only while no other port can
    std::optional<std::chrono::milliseconds> next_try{};
    bool operator==(const LossStatus&) const = default;
};

/// Counted by the datapath. By its programs a GSO packet counts once, with its whole length. Where it has no
/// program on the ports these count, and cards count packets on the wire (Datapath::counts_by_program()).
struct PortCounters {
    std::uint64_t tx_packets = 0, tx_bytes = 0, rx_packets = 0, rx_bytes = 0, rx_dropped = 0;
    std::uint64_t rx_left = 0; ///< concern only the link or the port itself
    /// Of a slave of a bond that is steered by hash: what our program has sent by it, of tx_bytes. Packet
    /// sockets without a qdisc, AF_XDP, RoCE and virtual functions send the rest, and a header a segment.
    std::optional<std::uint64_t> tx_steered_bytes{};
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
    std::optional<lacp::PortStatus> lacp{};
    LossStatus loss{};
    std::optional<DampingStatus> damping{};
    std::optional<std::uint32_t> weight{}; ///< as configured
    DrainStatus drain{};
    FailureDomain domain{};
    bool operator==(const PortStatus&) const = default;
};

/// Whether a port that does not transmit can replace one that does. With LACP another aggregator is chosen
/// among the ports that hear a partner; without any partner, in fallback, among those with a link. `ports`:
/// all of the team.
inline bool can_take_over(const PortStatus& port, const std::vector<PortStatus>& ports) {
    if (!port.link_up || !port.lacp) return port.link_up;
    const auto falls_back = [](const PortStatus& other) { return other.lacp && other.lacp->fallback; };
    return port.lacp->state == "current" ||
           (port.lacp->state == "defaulted" && std::ranges::any_of(ports, falls_back));
}

struct MoveStatus {
    std::uint8_t bucket = 0;
    std::string from, to; ///< ports by name
    double gain = 0;      ///< see BucketMove
    MoveReason reason = MoveReason::load;
    MoveEnd end = MoveEnd::pending;
    std::chrono::milliseconds waited{0}, ago{0};
    bool operator==(const MoveStatus&) const = default;
};

struct PortBalance {
    std::string name;
    double bytes = 0, packets = 0, bulk = 0; ///< per second, smoothed: what moves are decided by
    double rate = -1;                        ///< bytes per second sent in the last second; -1: not known yet
    double planned = 0;                      ///< bytes per second by the last placement
    double capacity = 0;                     ///< bytes per second; 0: unknown
    bool segments = true;                    ///< TSO is on
    double cpu_load = 0;                     ///< of its interrupt CPUs, 0 to 1
    CpuList interrupt_cpus{};                ///< empty: it has no interrupts, or they are not known
    CpuList cpus{};                          ///< with hash "cpu": the CPUs that send through it
    bool operator==(const PortBalance&) const = default;
};

/// For teams that hash.
struct BalanceStatus {
    BalanceConfig config;
    std::uint64_t moved = 0; ///< buckets, since the daemon started
    bool counted = false;    ///< the datapath counts traffic by bucket
    bool frozen = false;
    HashFields tx_hash = 0;
    std::array<std::string, bucket_count> leaves_by{}; ///< port by bucket; empty: no port carries
    std::array<std::vector<std::string>, bucket_count> next_ports{}; ///< the next ports if that port fails
    BucketLoads loads{};
    std::vector<PortBalance> ports{};
    std::vector<MoveStatus> moves{}; ///< pending moves, then the last finished ones, latest first
    bool operator==(const BalanceStatus&) const = default;
};

/// The offloads of one device, by the kernel's names; only those of the catalogue.
struct DeviceOffloads {
    std::string name;
    FeatureNames active{};     ///< on now
    FeatureNames changeable{}; ///< the driver can switch them
    FeatureNames planned_on{}, planned_off{}, required{};
    FeatureNames lacking{}; ///< required and not on
    unsigned repaired = 0;  ///< number of repairs
    bool gave_up = false;   ///< another program changes it again and again; we gave up
    bool last = false;      ///< demoted: carries only while no other port can ("lacking": "demote")
    SegmentLimits gso_max{};
    bool operator==(const DeviceOffloads&) const = default;
};

struct OffloadStatus {
    Lacking lacking = Lacking::accept; ///< the team's; a port may have its own
    bool repair = true;
    DeviceOffloads team;
    std::vector<DeviceOffloads> ports; ///< in the order they joined
    bool operator==(const OffloadStatus&) const = default;
};

struct PortInterruptStatus {
    std::string name;
    PortInterrupts now{};               ///< as last read
    std::vector<unsigned> cpus{};       ///< planned, by queue; empty: nothing is planned
    std::string reason{};               ///< for these CPUs; one line
    bool moves = false;                 ///< in a dry run: at least one queue is on another CPU now
    CpuSettings wanted{};               ///< the planned settings
    std::vector<std::string> shares{};  ///< other ports on its CPUs
    std::vector<std::string> refused{}; ///< what the kernel refused, and why
    bool threads_stay = false;          ///< threads that poll its queues are not placed (threads_stay_text)
    unsigned repaired = 0;              ///< number of repairs
    bool contested = false;             ///< another program changes it again and again; we gave up
    std::string drift{};                ///< the last change by another program; empty: none
    bool operator==(const PortInterruptStatus&) const = default;
};

/// Of PortInterruptStatus::threads_stay (threaded NAPI).
inline constexpr std::string_view threads_stay_text =
    "its NAPI threads stay where they are: the daemon may not move them (teamd-offload(8), "
    "SECURITY CONSIDERATIONS)";

/// Another program that places interrupts.
struct InterruptWriter {
    enum class Program : std::uint8_t { irqbalance, udevd };
    Program program = Program::irqbalance;
    bool spares_ports = false; ///< it leaves those of the ports alone, or will
    std::string text{};        ///< one line: what it does
    bool operator==(const InterruptWriter&) const = default;
};
template <>
inline constexpr std::array<std::string_view, 2> enum_names<InterruptWriter::Program>{"irqbalance", "udevd"};

struct InterruptStatus {
    InterruptPolicy policy = InterruptPolicy::unique;
    bool managed = true;    ///< false: restored by the administrator, until "apply"
    std::string degraded{}; ///< why not every port has a CPU of its own; empty: each has one
    std::vector<InterruptWriter> writers{};
    std::vector<PortInterruptStatus> ports{};
    bool operator==(const InterruptStatus&) const = default;
};

/// A process that matches a rule or that the administrator named.
struct WorkerStatus {
    Worker worker{};
    std::string rule{}; ///< that matched: "unit nginx.service"; or "by hand"
    WorkerPolicy policy = WorkerPolicy::follow;
    ProcessTraffic traffic{}; ///< of the last second
    double work = 0;          ///< CPU time that it used, in CPUs
    CpuList cpus{};           ///< to which it is bound; empty: not bound
    std::string reason{};     ///< why it is bound there, or not bound
    bool operator==(const WorkerStatus&) const = default;
};

struct WorkersStatus {
    bool managed = true;       ///< false: released by the administrator, until "apply"
    std::string refused{};     ///< why no worker can be bound; empty: they can
    std::string limitations{}; ///< traffic that cannot be measured, and why; empty: none
    std::string complaint{};   ///< the error of the last pass; empty: none
    std::vector<WorkerRule> rules{};
    std::vector<WorkerStatus> workers{}; ///< by process
    bool operator==(const WorkersStatus&) const = default;
};

/// A measurement switches something off and on, and at the end back to what it was.
enum class TrialState : std::uint8_t { off, on, end };
template <>
inline constexpr std::array<std::string_view, 3> enum_names<TrialState>{"off", "on", "end"};

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
    std::uint16_t min_ports = 1;
    std::optional<std::string> active_port; ///< activebackup: name of the active port
    std::string datapath;                   ///< "bpf", "bond" or "team"
    std::string device_kind;                ///< "veth", "netkit", "bond" or "team"
    LinkSight link_sight{};
    bool kernel_hashes = false;             ///< the kernel chooses the ports by its own hash (docs/adr/0022)
    bool counts_by_program = false;         ///< as Datapath::counts_by_program()
    std::string bond_mode{};                ///< of a bond: "balance-xor"
    std::optional<AttachedStatus> attached; ///< the device is a bond that another program made
    std::vector<PortStatus> ports;          ///< in the order they joined
    FailureDomain common;                   ///< of the ports that carry or can take over
    std::optional<BalanceStatus> balance;   ///< for teams that hash
    std::optional<OffloadStatus> offload;
    std::optional<InterruptStatus> interrupts;
    std::optional<WorkersStatus> workers;
    std::optional<GuardStatus> guard;
    std::vector<RefusedStatus> refused{};
    std::vector<ProgramStatus> programs{}; ///< of ours, on all devices of the team
    // "setup" of the state document
    pid_t pid = 0;
    std::string pid_file;
    std::string config_file; ///< empty: none
    std::string version;     ///< of the running program
    std::uint32_t debug_level = 0;
    bool daemonized = false, dbus_enabled = false;
};

} // namespace teamo
