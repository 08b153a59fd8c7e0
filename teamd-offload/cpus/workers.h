// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The workers of one team at work: each second seen, placed, and bound where they shall run. Without a rule
// or a process named by hand nothing is read at all.
#pragma once

#include "cpus/interrupts.h"
#include "cpus/unit_binder.h"
#include "cpus/worker_sampler.h"
#include "kernel/cpus/cpu_load.h"
#include "log.h"
#include "loop.h"
#include "model/worker_status.h"
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

    /// Releases what an earlier daemon has bound, and begins.
    void start();
    /// What is bound is as it was before, and stays so until true.
    void manage(bool managed);
    bool managed() const { return managed_; }
    /// A process by hand. ESRCH: there is none. EBUSY: the kernel steers flows.
    Result<> bind(pid_t pid, WorkerPolicy policy);
    /// Left alone whatever rules say.
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
    Result<> note(ProcessId id, const CpuList& cpus);
    WorkerBinding* find(ProcessId id);
    void release(ProcessId id);
    void release_unit(const std::string& unit);
    void forget_gone();
    void begin_anew();
    void keep();
    void complain(const std::string& text);
    void log_limitations();

    const Log& log_;
    std::vector<WorkerRule> rules_;
    const Interrupts& interrupts_;
    JournalKeeper& journal_;
    std::map<std::string, uid_t> users_;
    std::map<ProcessId, WorkerPolicy> by_hand_;
    bool managed_ = true;
    Clock::duration spent_{}; ///< of this window, with binding
    std::optional<Timer> window_, sample_;

    std::optional<WorkerSampler> sampler_;
    std::optional<UnitBinder> units_;
    CpuTopology topology_;
    Clock::time_point topology_at_{};
    AllCpuTimes cpu_times_;
    WorkerPlanner planner_;
    std::string refused_, complaint_, unseen_;

    struct Failure {
        CpuList cpus;
        std::string text;
        Clock::time_point again; ///< before that it is not tried there again
    };
    /// What a process was last bound by: what the kernel shows of it is less where its cpuset has less.
    struct Asked {
        CpuList cpus;
        unsigned threads = 0;
    };
    std::map<ProcessId, Asked> asked_;
    std::map<ProcessId, Failure> failed_;
    std::vector<WorkerStatus> status_;
};

/// Releases all that is in `bound`, which is empty then. What is not possible is said.
void release_workers(BoundWorkers& bound, const Log& log);

} // namespace teamo
