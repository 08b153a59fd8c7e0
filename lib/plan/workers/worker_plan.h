// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which processes are workers, and the plan of their CPUs, window by window. docs/adr/0016.
#pragma once

#include "base/clock.h"
#include "model/config.h"
#include "model/machine.h"
#include "model/workers.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// A port and its interrupt CPUs.
struct WorkerPort {
    std::string name;
    CpuList cpus;
};

/// A process that matches a rule, and its activity in the last window.
struct ActiveWorker {
    Worker worker;
    WorkerPolicy policy = WorkerPolicy::follow;
    ProcessTraffic traffic{};
    double work = 0;   ///< CPU time that it used, in CPUs
    CpuList allowed{}; ///< by its cpuset; empty: not known, all
};

struct WorkerPlanInput {
    const CpuTopology* topology = nullptr;
    std::vector<WorkerPort> ports{};
    std::map<unsigned, double> interrupts{}; ///< by CPU: share of the time in interrupts, 0 to 1
    std::vector<ActiveWorker> workers{};     ///< in any order
};

/// The first rule that matches the worker, or nullptr. `users`: ids of the users that rules name.
const WorkerRule* rule_for(const Worker& worker, std::span<const WorkerRule> rules,
                           const std::map<std::string, uid_t>& users);

/// Glob match as in "worker@*.service": * is any number of characters, ? is one.
bool matches(std::string_view pattern, std::string_view name);

/// The length of a window.
inline constexpr milliseconds worker_window{1000};

/// Deterministic: the same windows give the same placements.
class WorkerPlanner {
public:
    using Time = Clock::time_point;

    /// Call at the end of each window. Returns the placement of each worker in the input, by process.
    std::vector<WorkerPlacement> step(const WorkerPlanInput& input, Time now);

    /// A worker that an earlier daemon placed. It stays there as if it had been placed by step().
    void adopt(ProcessId id, const CpuList& cpus);

    /// The distance from the CPU on which packets arrive: the larger, the more interrupts that CPU serves.
    enum class Nearness : std::uint8_t { same, beside, apart };

    struct WorkerState {
        CpuList cpus{}; ///< in force; empty: not bound
        std::string reason{};
        CpuList followed{};   ///< the interrupt CPUs that its placement is based on
        bool adopted = false; ///< placed by an earlier daemon: `followed` and `nearness` are not known yet
        Nearness nearness = Nearness::same;
        CpuList wanted{};     ///< result of the last windows, if it differs from `cpus`
        unsigned windows = 0; ///< in a row with this result
        Time since{};
    };

private:
    class Pass;

    std::map<ProcessId, WorkerState> states_;
    std::optional<Time> last_;
};

} // namespace teamo
