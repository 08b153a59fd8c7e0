// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Manages the workers of one team: measures, places and binds them once a second. Reads nothing if there is
// no rule and no process was bound by request.
#pragma once

#include "cpus/interrupts.h"
#include "cpus/unit_binder.h"
#include "cpus/worker_sampler.h"
#include "kernel/cpus/cpu_load.h"
#include "log.h"
#include "loop.h"
#include "model/status.h"
#include "plan/workers/worker_plan.h"

#include <map>
#include <memory>
#include <optional>

namespace teamo {

class Workers {
public:
    static Result<std::unique_ptr<Workers>> make(sd_event* loop, const Log& log,
                                                 std::vector<WorkerRule> rules, const Interrupts& interrupts,
                                                 JournalKeeper& journal);

    /// Releases what an earlier daemon has bound, and starts to measure.
    void start();
    /// False: releases all workers, and binds none until true.
    void manage(bool managed);
    bool managed() const { return managed_; }
    /// Binds a process by request. ESRCH: there is none. EBUSY: not managed, or RFS is on.
    Result<> bind(pid_t pid, WorkerPolicy policy);
    /// Releases a process by request; rules do not apply to it any more. ENOENT: no worker.
    Result<> release(pid_t pid);

    WorkersStatus status() const;

private:
    Workers(const Log& log, std::vector<WorkerRule> rules, const Interrupts& interrupts,
            JournalKeeper& journal)
        : log_(log), rules_(std::move(rules)), interrupts_(interrupts), journal_(journal) {}

    bool is_wanted() const { return managed_ && (!rules_.empty() || !by_hand_.empty()); }
    void begin_window();
    void end_window();
    bool is_refused();
    WorkerPlanInput input(const std::vector<WorkerSampler::ObservedWorker>& seen,
                          const std::vector<Interrupts::Arrival>& arrivals);
    std::map<unsigned, double> interrupt_load();
    void reconcile(const WorkerSampler::ObservedWorker& seen, const WorkerPlacement& placement);
    Result<> bind(const WorkerSampler::ObservedWorker& seen, const CpuList& cpus);
    Result<> write_before(ProcessId id, const CpuList& cpus);
    WorkerBinding* find(ProcessId id);
    void release(ProcessId id);
    void release_unit(const std::string& unit);
    void forget_gone();
    void reset_measurement();
    void keep();
    void log_limitations();

    const Log& log_;
    std::vector<WorkerRule> rules_;
    const Interrupts& interrupts_;
    JournalKeeper& journal_;
    std::map<std::string, uid_t> users_;
    std::map<ProcessId, WorkerPolicy> by_hand_;
    bool managed_ = true;
    Clock::duration spent_{}; ///< time spent on binding in this window
    std::optional<Timer> window_, sample_;

    std::optional<WorkerSampler> sampler_;
    std::optional<UnitBinder> units_;
    CpuTopology topology_;
    Clock::time_point topology_at_{};
    AllCpuTimes cpu_times_;
    WorkerPlanner planner_;
    std::string refused_; ///< why no worker is bound (RFS); empty: they are
    LogOnce failure_, limitations_;

    struct Failure {
        CpuList cpus;
        std::string text;
        Clock::time_point retry_at; ///< on these CPUs
    };
    /// What we last set; sched_getaffinity() may show less, limited by the process's cpuset.
    struct LastBinding {
        CpuList cpus;
        unsigned threads = 0;
    };
    std::map<ProcessId, LastBinding> last_bindings_;
    std::map<ProcessId, Failure> failed_;
    std::vector<WorkerStatus> status_;
};

/// Releases everything in `bound` and logs failures; `bound.processes` is empty then.
void release_workers(BoundWorkers& bound, const Log& log);

} // namespace teamo
