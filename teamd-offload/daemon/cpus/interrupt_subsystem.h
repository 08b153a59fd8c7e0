// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Manages the interrupts of one team's ports: plans and sets their affinity, and sets it again when another
// program changes it. The kernel does not report a new affinity, so it is polled four times a second.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "daemon/cpus/irqbalance_ban.h"
#include "kernel/interrupts/port_interrupts.h"
#include "kernel/interrupts/vector_groups.h"
#include "model/status.h"
#include "plan/interrupts/interrupt_plan.h"
#include "plan/interrupts/interrupt_settings.h"
#include "plan/team/repair.h"
#include "runtime/shared_files.h"

#include <memory>
#include <span>
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
    static Result<std::unique_ptr<Interrupts>> make(TeamContext& context);
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts() { context_.shared.interrupt_plans.remove(context_.name()); }

    /// Manages these ports from now on.
    void follow(const std::vector<Port>& ports);
    /// Withdraws our irqbalance ban and CPU claims when the team stops.
    void end();
    /// False: restores everything, and changes nothing until true. Initially as the policy says.
    void manage(bool managed);
    /// Call it after a change of the configuration. manage() follows a new policy.
    void reconfigure(const InterruptConfig& before);

    InterruptStatus status() const;
    /// The CPUs where a port's packets arrive now.
    struct Arrival {
        IfIndex index;
        std::string name;
        CpuList cpus;                   ///< of its queues' interrupts; empty: none
        std::vector<unsigned> napi_ids; ///< of its queues; empty: not known
    };
    std::vector<Arrival> arrivals() const;
    /// The CPUs that handle a port's interrupts, as last read, or now if they never were; empty: none known.
    CpuList cpus_of(IfIndex port);
    /// Whether NAPI threads poll its queues (/sys/class/net/PORT/threaded), as last read.
    bool polls_in_threads(IfIndex port) const;
    /// Reads and plans as if the policy were "unique"; changes nothing.
    InterruptStatus dry_run();

private:
    /// What the kernel refused, until other CPUs are wanted.
    struct Refusal {
        CpuList cpus;
        std::string text;
        Clock::time_point retry_at{}; ///< max(): the same CPUs are not tried again
    };
    struct Followed : Port {
        PortInterrupts now{};
        QueueVectorLearner learner{};
        std::vector<unsigned> napi_ids{};
        unsigned queues = 0; ///< the last number that was not 0
        PlacedPort plan{};
        CpuSettings wanted{};
        std::map<CpuSetting, Refusal> refused{};
        Repair repair{}, mask_repair{}; ///< of vectors and threads; of XPS and RPS
        unsigned repaired = 0;
        bool contested = false, stale = true, came_up = true;
        bool threads_stay = false; ///< see model/status.h
        Clock::time_point read_at{};
        std::string drift{};
        std::set<CpuSetting> unwritten{}; ///< refused by a passing failure, or the journal was not written
        LogOnce restore_failure{};        ///< of what is not wanted any more
        std::string udev{}; ///< udevd's setting that also places it: "IRQAffinityPolicy=spread in FILE"
    };

    Interrupts(TeamContext& context, NetdevFamily family) : context_(context), family_(std::move(family)) {}

    const InterruptConfig& config() const { return context_.config().interrupts; }
    Result<> ask_irqbalance();
    bool has_queues() const;
    void poll();
    std::span<Followed> next_ports(bool all);
    void read_cpus();
    static bool must_read(Followed& port);
    void read(Followed& port);
    void learn(Followed& port);
    void note_queue_count(Followed& port);
    void refresh_next_masks();
    TeamPlans::Team wish() const;
    TeamPlans::Part plan();
    void make_plan();
    CpuList arrival_cpus(const Followed& port) const;
    std::vector<PortClaim> claims() const;
    void add_bans(const Followed& port, BannedIrqs& irqs) const;
    void reconcile(Followed& port, bool cpus_changed);
    void repair(Followed& port, Repair& tries, const CpuSettings& drifted, bool cpus_changed);
    DriftCause cause(const Followed& port, const CpuSetting& drifted, bool cpus_changed) const;
    void set(Followed& port, const CpuSettings& settings);
    void note_refusal(Followed& port, const CpuSetting& setting, const CpuList& cpus, const Error& error);
    void note_threads(Followed& port);
    void restore_unwanted(Followed& port);
    std::vector<InterruptWriter> writers() const;
    void remove_claims();
    void plan_again(const std::set<std::string>& teams);

    TeamContext& context_;
    const Log& log_ = context_.log;
    JournalKeeper& journal_ = context_.journal;
    std::optional<Timer> timer_;
    Broadcast<std::set<std::string>>::Listener moved_ =
        context_.shared.interrupts_moved.listen([this](const auto& teams) { plan_again(teams); });
    std::unique_ptr<IrqBalance> irqbalance_; ///< none: not wanted, and no daemon of this team has asked it
    bool managed_ = config().policy == InterruptPolicy::unique;
    NetdevFamily family_;
    CpuClaims claims_file_{std::string(journal_directory)};

    CpuTopology topology_;
    std::string online_; ///< as last read, to see a change cheaply
    Clock::time_point topology_at_{}, claims_at_{};
    std::vector<Followed> ports_;
    std::size_t next_port_ = 0; ///< the first that the next poll reads
    bool plan_due_ = true, claimed_ = false;
    bool cpus_changed_ = false; ///< a CPU went offline or came online since the last poll
    unsigned lock_tries_ = 0;   ///< in a row, while another daemon holds the lock of the claims
    std::string degraded_;
    LogOnce failure_;         ///< to read the CPUs
    LogOnce claims_failure_;  ///< to lock or write the claims
    LogOnce journal_failure_; ///< to write the journal
};

} // namespace teamo
