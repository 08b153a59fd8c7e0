// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plans the CPUs of the workers, window by window. docs/adr/0016.
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
    double work = 0; ///< CPU time that it used, in CPUs
};

struct WorkerPlanInput {
    const CpuTopology* topology = nullptr;
    std::vector<WorkerPort> ports{};
    std::map<unsigned, double> interrupts{}; ///< by CPU: share of the time in interrupts, 0 to 1
    CpuList allowed{};                       ///< empty: all CPUs that are not isolated
    std::vector<ActiveWorker> workers{};     ///< in any order
};

struct WorkerSettings {
    milliseconds window{1000};
    unsigned windows = 3;  ///< this many in a row must agree before a worker moves
    double dominant = 0.6; ///< share of a worker's traffic that one CPU or port must have for a move
    double kept = 0.5;     ///< share that is enough to stay
    /// Per second. Below both there is too little traffic for a decision.
    std::uint64_t least_bytes = 50'000, least_packets = 50;
};

/// Deterministic: the same windows give the same placements.
class WorkerPlanner {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit WorkerPlanner(WorkerSettings settings = {}) : settings_(settings) {}

    /// Call at the end of each window. Returns the placement of each worker, by process. Forgets workers that
    /// are no longer in the input.
    std::vector<WorkerPlacement> step(const WorkerPlanInput& input, Time now);

    /// The distance of a worker from the CPU on which its packets arrive: the more time that CPU spends in
    /// interrupts, the larger.
    enum class Nearness : std::uint8_t { same, beside, apart };

    struct WorkerState {
        CpuList cpus{}; ///< in force; empty: not bound
        std::string reason{};
        CpuList followed{}; ///< the interrupt CPUs that its placement is based on
        Nearness nearness = Nearness::same;
        CpuList wanted{};     ///< result of the last windows, if it differs from `cpus`
        unsigned windows = 0; ///< in a row with this result
        Time since{};
    };

private:
    class Pass;

    WorkerSettings settings_;
    std::map<ProcessId, WorkerState> states_;
    std::optional<Time> last_;
};

} // namespace teamo
