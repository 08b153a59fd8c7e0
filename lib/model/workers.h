// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Workers, the processes whose packets arrive by the team.
#pragma once

#include "base/cpu_list.h"
#include "base/named.h"

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

// ---- configuration ------------------------------------------------------------------------------

/// How a rule selects processes.
enum class WorkerSelector : std::uint8_t { unit, cgroup, command, user };
/// The configuration's words, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> worker_selector_names{"unit", "cgroup", "command", "user"};

enum class WorkerPolicy : std::uint8_t {
    follow, ///< runs where most of its packets arrive
    spread, ///< a CPU for each process
    off,    ///< left alone
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<WorkerPolicy>{"follow", "spread", "off"};

struct WorkerRule {
    WorkerSelector selector = WorkerSelector::unit;
    std::string name{}; ///< never empty; for units and commands with * and ? as wildcards
    WorkerPolicy policy = WorkerPolicy::follow;
    bool operator==(const WorkerRule&) const = default;
};
/// "unit worker@*.service"
inline std::string text_of(const WorkerRule& rule) {
    return std::string(worker_selector_names[static_cast<std::size_t>(rule.selector)]) + " " + rule.name;
}

// ---- observation --------------------------------------------------------------------------------

/// Identifies a process, also after its pid was reused.
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t started = 0;                          ///< in ticks since boot (field 22 of /proc/PID/stat)
    auto operator<=>(const ProcessId&) const = default; // NOLINT(modernize-use-nullptr): as named.h
};

struct Worker {
    ProcessId id;
    std::string command; ///< /proc/PID/comm
    uid_t user = 0;
    std::string cgroup; ///< path in the unified hierarchy, or in systemd's named one; empty: not known
    std::string unit;   ///< its systemd unit; empty: none
    unsigned threads = 1;
    bool operator==(const Worker&) const = default;
};

enum class Transport : std::uint8_t { tcp, udp };

/// Traffic that one socket received. The counters only rise while the socket exists.
struct SocketTraffic {
    pid_t process = 0;        ///< one of the processes that have it open
    std::uint64_t cookie = 0; ///< unique until reboot
    Transport transport = Transport::tcp;
    std::optional<unsigned> cpu{};   ///< that processed its last packet; none: no packet yet
    unsigned napi = 0;               ///< NAPI id of its last packet; 0: not known
    IfIndex device{};                ///< of its last packet; the team device for packets of a team
    bool foreign = false;            ///< socket and `device` are in another network namespace
    std::optional<unsigned> queue{}; ///< receive queue of its last packet, if the driver reports it
    std::uint64_t bytes = 0, packets = 0;
    bool operator==(const SocketTraffic&) const = default;
};

/// Traffic that a process received in a window.
struct ProcessTraffic {
    std::uint64_t bytes = 0, packets = 0;
    std::map<unsigned, std::uint64_t> by_cpu;     ///< bytes
    std::map<std::string, std::uint64_t> by_port; ///< bytes; without packets that came by no port
    bool operator==(const ProcessTraffic&) const = default;
};

struct WorkerPlacement {
    ProcessId id;
    CpuList cpus;       ///< to bind it to; empty: left alone, and released if it is bound
    std::string reason; ///< one line, for the user
    bool operator==(const WorkerPlacement&) const = default;
};

/// A bound process with the former affinity of its threads: all that is needed to undo it.
struct WorkerBinding {
    struct Thread {
        std::uint64_t started = 0; ///< as in ProcessId; a thread id may be reused
        CpuList before;            ///< all CPUs of the machine: only its cpuset restricted it
        bool operator==(const Thread&) const = default;
    };
    ProcessId id;
    CpuList cpus;    ///< affinity of its bound threads: the wanted CPUs without those outside its cpuset
    CpuList leaving; ///< while binding: affinity of the threads that are not bound yet; empty: done
    CpuList before;  ///< former affinity of the first thread; also for threads created since
    std::map<pid_t, Thread> threads;
    bool operator==(const WorkerBinding&) const = default;
};

/// AllowedCPUs= of a systemd unit that we set.
struct UnitBinding {
    CpuList cpus;
    CpuList leaving;     ///< until systemd confirms `cpus`: the value that we had set before
    CpuList before;      ///< the value of the user; empty: all CPUs
    ProcessId process{}; ///< the only one of the unit
    bool operator==(const UnitBinding&) const = default;
};

/// All bound processes and units, and what a later daemon needs to leave them bound.
struct BoundWorkers {
    std::vector<WorkerBinding> processes{};
    std::map<std::string, UnitBinding> units{};
    std::map<ProcessId, WorkerPolicy> by_hand{}; ///< by request; takes precedence over the rules
    bool empty() const { return processes.empty() && units.empty(); }
    bool operator==(const BoundWorkers&) const = default;
};

} // namespace teamo
