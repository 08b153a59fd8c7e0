// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Processes whose packets come through the team: what was seen of them, and where they shall run.
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

// ---- what is configured --------------------------------------------------------------------------

/// By what a rule knows its processes.
enum class WorkerSelector : std::uint8_t { unit, cgroup, command, user };
/// As the configuration has them, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> worker_selector_names{"unit", "cgroup", "command", "user"};

enum class WorkerPolicy : std::uint8_t {
    follow, ///< where most of their packets arrive
    spread, ///< a CPU each
    off,    ///< left alone
};
constexpr const char* name_of(WorkerPolicy policy) {
    constexpr std::array names{"follow", "spread", "off"};
    return names[static_cast<std::size_t>(policy)];
}

struct WorkerRule {
    WorkerSelector selector = WorkerSelector::unit;
    std::string name{}; ///< never empty; of units and commands it may have * and ?
    WorkerPolicy policy = WorkerPolicy::follow;
    bool operator==(const WorkerRule&) const = default;
};

// ---- what was seen -------------------------------------------------------------------------------

/// A process, and not whoever has its number later.
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t started = 0;                          ///< in ticks since boot (field 22 of /proc/PID/stat)
    auto operator<=>(const ProcessId&) const = default; // NOLINT(modernize-use-nullptr): as named.h
};

struct Worker {
    ProcessId id;
    std::string command; ///< /proc/PID/comm
    uid_t user = 0;
    std::string cgroup; ///< its path in the unified hierarchy, or in systemd's own; empty: not known
    std::string unit;   ///< the systemd unit it belongs to; empty: none
    unsigned threads = 1;
    bool operator==(const Worker&) const = default;
};

enum class Transport : std::uint8_t { tcp, udp };

/// What one socket has taken in. Counters only rise, as long as the socket lives.
struct SocketTraffic {
    pid_t process = 0;        ///< one of those that have it open
    std::uint64_t cookie = 0; ///< no two sockets have the same, as long as the machine runs
    Transport transport = Transport::tcp;
    std::optional<unsigned> cpu{};   ///< that worked on its last packet; none: no packet yet
    unsigned napi = 0;               ///< the poll that brought its last packet; 0: not told
    IfIndex device{};                ///< by which its last packet came in; a team's packets come by the team
    bool foreign = false;            ///< of another network namespace: so is `device`
    std::optional<unsigned> queue{}; ///< receive queue of that packet, where the driver tells it
    std::uint64_t bytes = 0, packets = 0;
    bool operator==(const SocketTraffic&) const = default;
};

/// What a process took in within a window.
struct ProcessTraffic {
    std::uint64_t bytes = 0, packets = 0;
    std::map<unsigned, std::uint64_t> by_cpu; ///< bytes
    std::map<std::string, std::uint64_t>
        by_port; ///< bytes; what came by none of the ports is in `bytes` only
    bool operator==(const ProcessTraffic&) const = default;
};

// ---- what shall be -------------------------------------------------------------------------------

struct WorkerPlacement {
    ProcessId id;
    CpuList cpus;       ///< where it shall run; empty: left alone, and released where it is bound
    std::string reason; ///< one line, for people
    bool operator==(const WorkerPlacement&) const = default;
};

// ---- what was done -------------------------------------------------------------------------------

/// A process that is bound, and what its threads were like before: all that is needed to undo it.
struct WorkerBinding {
    struct Thread {
        std::uint64_t started = 0; ///< a thread's number may have another bearer later
        CpuList before;
        bool operator==(const Thread&) const = default;
    };
    ProcessId id;
    CpuList cpus;    ///< what its threads show now: what was asked for, less what its cpuset has not
    CpuList leaving; ///< while they are bound: what those show that it has not come to; none: it is done
    CpuList before;  ///< of its first thread; those made since have inherited ours, and get this
    std::map<pid_t, Thread> threads;
    bool operator==(const WorkerBinding&) const = default;
};

/// AllowedCPUs= of a systemd unit that was set; before: empty: all.
struct UnitBinding {
    CpuList cpus;
    CpuList leaving; ///< while systemd has not said that it is done: what it was by us before
    CpuList before;
    bool operator==(const UnitBinding&) const = default;
};

/// All that is bound.
struct BoundWorkers {
    std::vector<WorkerBinding> processes{};
    std::map<std::string, UnitBinding> units{};
    bool empty() const { return processes.empty() && units.empty(); }
    bool operator==(const BoundWorkers&) const = default;
};

} // namespace teamo
