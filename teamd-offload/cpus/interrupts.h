// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interrupts of one team's ports at work: read, planned, put where they shall be, and put right when
// somebody else moves them. The kernel tells nobody of a new affinity, so it is looked at four times a
// second.
#pragma once

#include "base/clock.h"
#include "cpus/irqbalance_ban.h"
#include "journal_keeper.h"
#include "kernel/interrupts/port_interrupts.h"
#include "kernel/interrupts/vector_learning.h"
#include "links/observer.h"
#include "log.h"
#include "loop.h"
#include "model/interrupt_status.h"
#include "model/observation.h"
#include "plan/interrupts/drift.h"
#include "plan/interrupts/interrupt_plan.h"
#include "plan/team/repair.h"
#include "runtime/cpu_claims.h"

#include <memory>
#include <set>
#include <vector>

namespace teamo {

class Interrupts {
public:
    /// What is followed.
    struct Port {
        IfIndex index;
        std::string name;
        bool up = false;      ///< IFF_UP: most cards have no vectors before
        double load = 1;      ///< beside the others
        bool standby = false; ///< carries nothing while others do
        bool operator==(const Port&) const = default;
    };
    static Result<std::unique_ptr<Interrupts>> make(sd_event* loop, const Log& log, std::string team,
                                                    const InterruptConfig& config, const Observer& observer,
                                                    JournalKeeper& journal);

    /// From now on these.
    void follow(const std::vector<Port>& ports);
    /// The team ends: what others were asked for its sake is taken back.
    void end();
    /// False: everything is put back, and stays so until true. At first it is as the policy says.
    void manage(bool managed);
    bool managed() const { return managed_; }

    InterruptStatus status() const;
    /// Where a port's packets arrive now.
    struct Arrival {
        IfIndex index;
        std::string name;
        CpuList cpus;                   ///< of its queues' interrupts; empty: it has none
        std::vector<unsigned> napi_ids; ///< NAPI numbers of its queues; empty: not told
    };
    std::vector<Arrival> arrivals() const;
    /// The CPUs that take a port's interrupts now, as last read, or read now if they never were; empty: none,
    /// or not known.
    CpuList cpus_of(IfIndex port);
    /// Reads and plans as if the policy were "unique"; changes nothing.
    InterruptStatus dry_run();

private:
    struct Followed {
        Port port;
        PortInterrupts now{};
        QueueVectorLearner lessons{};
        std::vector<unsigned> napi_ids{}; ///< NAPI numbers
        unsigned queues = 0;              ///< it had when it last had any
        PlacedPort plan{};
        CpuSettings wanted{};
        std::map<CpuSetting, std::string> refused{}; ///< what the kernel did not do, and why
        Repair repair{}, mask_repair{};              ///< of vectors and threads; of XPS and RPS
        unsigned repaired = 0;
        bool contested = false, stale = true, came_up = true;
        Clock::time_point read_at{};
        std::string drift{};
        std::string udev{}; ///< by which udevd places it too: "IRQAffinityPolicy=spread in FILE"
    };

    Interrupts(const Log& log, std::string team, const InterruptConfig& config, const Observer& observer,
               JournalKeeper& journal, NetdevFamily family)
        : log_(log),
          team_name_(std::move(team)),
          config_(config),
          observer_(observer),
          journal_(journal),
          managed_(config.policy == InterruptPolicy::unique),
          family_(std::move(family)) {}

    void poll();
    bool read_cpus();
    void read(Followed& port);
    void learn(Followed& port);
    void found_queues(Followed& port);
    void refresh_next_masks();
    InterruptPlan plan(const std::vector<CpuClaim>& claims) const;
    void make_plan();
    void adopt(InterruptPlan made);
    std::vector<PortClaim> claims() const;
    void reconcile(Followed& port, bool cpus_changed);
    void repair(Followed& port, Repair& tries, const CpuSettings& drifted, bool cpus_changed);
    DriftCause cause(const Followed& port, const CpuSetting& drifted, bool cpus_changed) const;
    void set(Followed& port, const CpuSettings& settings);
    void log_placed(Followed& port) const;
    void put_back(Followed& port);
    void keep_irqbalance_out();
    std::vector<std::string> writers() const;
    void forget_stale(const Link& link, const Followed& port);
    void unclaim();

    const Log& log_;
    std::string team_name_;
    InterruptConfig config_;
    const Observer& observer_;
    JournalKeeper& journal_;
    std::optional<Timer> timer_;
    std::unique_ptr<IrqBalance> irqbalance_; ///< none: it is not to be asked
    bool managed_;
    NetdevFamily family_;

    CpuTopology topology_;
    std::string online_; ///< as last read, to see a change cheaply
    Clock::time_point topology_at_{}, claims_at_{};
    std::vector<Followed> ports_;
    bool plan_due_ = true, claimed_ = false;
    std::string degraded_;
    std::string complaint_; ///< why the CPUs or the claims could not be read; said once
};

} // namespace teamo
