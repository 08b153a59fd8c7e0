// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On which CPUs the workers shall run, window after window. docs/adr/0016.
#pragma once

#include "model/config.h"
#include "model/cpus.h"
#include "model/workers.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// A port and the CPUs to which its interrupts go.
struct WorkerPort {
    std::string name;
    CpuList cpus;
};

/// A process that a rule fits, and what it did in the window that ended.
struct ActiveWorker {
    Worker worker;
    WorkerPolicy policy = WorkerPolicy::follow;
    ProcessTraffic traffic{};
    double work = 0; ///< CPU time it used, in CPUs
};

struct WorkerPlanInput {
    const CpuTopology* topology = nullptr;
    std::vector<WorkerPort> ports{};
    std::map<unsigned, double> interrupts{}; ///< by CPU: share of the time in interrupts, 0 to 1
    CpuList allowed{};                       ///< empty: all that are not isolated
    std::vector<ActiveWorker> workers{};     ///< their order does not count
};

struct WorkerSettings {
    milliseconds window{1000};
    unsigned windows = 3;  ///< in a row must say the same before a worker is moved
    double dominant = 0.6; ///< share of a worker's traffic that one CPU, or one port, must bring
    double kept = 0.5;     ///< as much is enough to stay
    /// Less of both in a second is no traffic to go by.
    std::uint64_t least_bytes = 50'000, least_packets = 50;
};

/// A value: the same windows make the same placements.
class WorkerPlanner {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit WorkerPlanner(WorkerSettings settings = {}) : settings_(settings) {}

    /// At the end of a window: where each of the workers shall be from now on, by process. A worker that is
    /// not among the premises any more is forgotten.
    std::vector<WorkerPlacement> step(const WorkerPlanInput& input, Time now);

    /// How near a worker comes to the CPU that its packets arrive on: the busier that one is with interrupts
    /// the less there is left for it.
    enum class Nearness : std::uint8_t { same, beside, apart };

    struct WorkerState {
        CpuList cpus{}; ///< in force; empty: left alone
        std::string reason{};
        CpuList followed{}; ///< the interrupt CPUs that it is placed by
        Nearness nearness = Nearness::same;
        CpuList wished{}; ///< what the last windows spoke for, where that is something else
        unsigned windows = 0;
        Time since{};
    };

private:
    class Pass;

    WorkerSettings settings_;
    std::map<ProcessId, WorkerState> states_;
    std::optional<Time> last_;
};

} // namespace teamo
