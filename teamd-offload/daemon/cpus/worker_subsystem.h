// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Manages the workers of one team: measures, places and binds them once a second. Reads nothing if there is
// no rule and no process was bound by request.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/cpus/interrupt_subsystem.h"
#include "daemon/cpus/unit_binder.h"
#include "daemon/cpus/user_lookup.h"
#include "daemon/cpus/worker_sampler.h"
#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "model/status.h"
#include "plan/team/repair.h"
#include "plan/workers/worker_plan.h"
#include "workers/processes.h"

#include <map>
#include <memory>
#include <optional>

namespace teamo {

class Workers {
public:
    static Result<std::unique_ptr<Workers>> make(TeamContext& context, const Interrupts& interrupts);

    /// Adopts what an earlier daemon has bound, and starts to measure.
    void start();
    /// False: releases all workers, and binds none until true.
    void manage(bool managed);
    /// Call it after a change of the configuration.
    void reconfigure(const std::vector<WorkerRule>& before);
    /// Binds a process by request. ESRCH: there is none. EBUSY: not managed, or RFS is on.
    Result<> bind(pid_t pid, WorkerPolicy policy);
    /// Releases a process by request; rules do not apply to it any more. ENOENT: no worker.
    Result<> release(pid_t pid);

    WorkersStatus status() const;

private:
    Workers(TeamContext& context, const Interrupts& interrupts)
        : context_(context), interrupts_(interrupts) {}

    bool is_wanted() const { return managed_ && (!rules().empty() || !by_hand().empty()); }
    const std::vector<WorkerRule>& rules() const { return context_.config().workers; }
    std::map<ProcessId, WorkerPolicy>& by_hand() const { return journal_.workers().by_hand; }
    void adopt();
    /// Takes what a look-up of users has found. False: it still runs, and a user of the rules is not known.
    bool take_users();
    void look_up_users();
    bool lacks_users() const { return lookup_.is_running() && !unknown_users().empty(); }
    std::vector<std::string> unknown_users() const; ///< that the rules name
    void begin_window();
    void release_all();
    void end_window();
    bool is_refused();
    /// Begins to change bindings in this window.
    void begin_changes();
    Result<> refresh_topology(Clock::time_point now);
    std::map<unsigned, double> interrupt_load();
    void reconcile(const WorkerSampler::ObservedWorker& seen, const WorkerPlacement& placement);
    Result<> bind(const WorkerSampler::ObservedWorker& seen, const CpuList& cpus);
    Result<> may_set_back(const Worker& worker, const CpuList& now, Repair& tries);
    /// EBUSY: another team has bound it. EAGAIN: another team is at it.
    Result<> refuse_of_another_team(const Worker& worker);
    Result<> write_before(ProcessId id, const CpuList& cpus);
    WorkerBinding* find(ProcessId id);
    WorkerStatus* status_of(ProcessId id);
    /// Releases a bound process. Its entry goes, unless it can be released later.
    Result<> undo(ProcessId id);
    /// The same, with a line in the log.
    bool release(ProcessId id);
    /// As long as this window has time for it.
    void release_in_window(ProcessId id);
    void release_unit_in_window(const std::string& unit);
    void release_unit(const std::string& unit);
    void forget_gone();
    void reset_measurement();
    /// Writes the journal if something has changed.
    void keep() { keep_failure_(log_, Level::warning, "", journal_.keep()); }

    TeamContext& context_;
    const Interrupts& interrupts_;
    const Log& log_ = context_.log;
    JournalKeeper& journal_ = context_.journal;
    UserLookup lookup_;
    Clock::time_point looked_up_at_{};   ///< when the last look-up began
    std::map<std::string, uid_t> users_; ///< of all look-ups
    bool managed_ = true;
    Clock::duration spent_{}; ///< time spent on binding and releasing in this window
    /// What other teams have bound; the lock is held until this window has bound what it wants.
    struct Others {
        LockFile lock;
        std::map<std::string, BoundWorkers> workers;
    };
    std::optional<Others> others_;
    bool others_is_busy_ = false; ///< another team held the lock in this window
    std::optional<Timer> window_, sample_;

    std::optional<WorkerSampler> sampler_;
    UnitBinder units_;
    CpuTopology topology_;
    Clock::time_point topology_at_{};
    AllCpuColumns cpu_times_;
    WorkerPlanner planner_;
    std::string refused_; ///< why no worker is bound (RFS); empty: they are
    LogOnce failure_, limitations_, overlap_, lookup_failure_, keep_failure_;
    std::string overlap_now_; ///< in this window

    struct Failure {
        CpuList cpus;
        std::string text;
        Clock::time_point retry_at; ///< on these CPUs
    };
    /// What we last set; sched_getaffinity() may show less, limited by the process's cpuset.
    struct LastBinding {
        CpuList cpus;
        unsigned threads = 0;
        Repair repair{}; ///< of what another program changes
    };
    std::map<ProcessId, LastBinding> last_bindings_;
    std::map<ProcessId, Failure> failed_;
    std::map<ProcessId, Clock::time_point> release_at_; ///< of those that could not be released
    std::vector<WorkerStatus> status_;
};

/// Whether the entry of a process that could not be released must stay.
bool can_be_released_later(const Error& error);

/// Releases everything in `bound` and logs failures. What can be released later stays there. Processes that
/// start threads all the time delay it by half a second in all.
void release_workers(BoundWorkers& bound, const Log& log);

} // namespace teamo
