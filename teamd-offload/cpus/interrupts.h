// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Manages the interrupts of one team's ports: reads them, plans and sets their affinity, and sets it again
// when another program changes it. The kernel does not report a new affinity, so it is polled four times a
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
#include "model/observation.h"
#include "model/status.h"
#include "plan/interrupts/interrupt_plan.h"
#include "plan/interrupts/interrupt_settings.h"
#include "plan/team/repair.h"
#include "runtime/cpu_claims.h"

#include <memory>
#include <set>
#include <vector>

namespace teamo {

class Interrupts {
public:
    struct Port {
        IfIndex index;
        std::string name;
        bool up = false;      ///< IFF_UP: most cards have no vectors until then
        double load = 1;      ///< relative to the other ports
        bool standby = false; ///< carries nothing while another port does
        bool operator==(const Port&) const = default;
    };
    static Result<std::unique_ptr<Interrupts>> make(sd_event* loop, const Log& log, std::string team,
                                                    const InterruptConfig& config, const Observer& observer,
                                                    JournalKeeper& journal);

    /// Manages these ports from now on.
    void follow(const std::vector<Port>& ports);
    /// Withdraws our irqbalance ban and CPU claims when the team stops.
    void end();
    /// False: restores everything, and changes nothing until true. Initially as the policy says.
    void manage(bool managed);
    bool managed() const { return managed_; }

    InterruptStatus status() const;
    /// The CPUs where a port's packets arrive now.
    struct Arrival {
        IfIndex index;
        std::string name;
        CpuList cpus;                   ///< of its queues' interrupts; empty: none
        std::vector<unsigned> napi_ids; ///< of its queues; empty: not known
    };
    std::vector<Arrival> arrivals() const;
    /// The CPUs that handle a port's interrupts, as last read, or read now if they never were; empty: none,
    /// or not known.
    CpuList cpus_of(IfIndex port);
    /// Reads and plans as if the policy were "unique"; changes nothing.
    InterruptStatus dry_run();

private:
    struct Followed {
        Port port;
        PortInterrupts now{};
        QueueVectorLearner learner{};
        std::vector<unsigned> napi_ids{};
        unsigned queues = 0; ///< the last number that was not 0
        PlacedPort plan{};
        CpuSettings wanted{};
        std::map<CpuSetting, std::string> refused{}; ///< what the kernel refused, and why
        Repair repair{}, mask_repair{};              ///< of vectors and threads; of XPS and RPS
        unsigned repaired = 0;
        bool contested = false, stale = true, came_up = true;
        Clock::time_point read_at{};
        std::string drift{};
        std::string udev{}; ///< udevd's setting that also places it: "IRQAffinityPolicy=spread in FILE"
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
    void note_queue_count(Followed& port);
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
    void restore(Followed& port);
    void update_irqbalance_ban();
    std::vector<std::string> writers() const;
    void forget_vanished(const Link& link, const Followed& port);
    void remove_claims();

    const Log& log_;
    std::string team_name_;
    InterruptConfig config_;
    const Observer& observer_;
    JournalKeeper& journal_;
    std::optional<Timer> timer_;
    std::unique_ptr<IrqBalance> irqbalance_; ///< none: disabled by the configuration
    bool managed_;
    NetdevFamily family_;

    CpuTopology topology_;
    std::string online_; ///< as last read, to see a change cheaply
    Clock::time_point topology_at_{}, claims_at_{};
    std::vector<Followed> ports_;
    bool plan_due_ = true, claimed_ = false;
    std::string degraded_;
    LogOnce failure_; ///< to read the CPUs or the claims
};

} // namespace teamo
