// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides which ports carry: runs the runner, makes the plan, and applies it to the datapath and the devices.
// The tables are written first.
#pragma once

#include "daemon/team/devices.h"
#include "daemon/team/ports/port_set.h"
#include "daemon/team/subsystems.h"
#include "plan/team/make_plan.h"
#include "runner/runner.h"

#include <array>
#include <map>
#include <optional>

namespace teamo {

class Reconciler {
public:
    Reconciler(TeamContext& context, Subsystems& subsystems, const PortSet& ports, const UpperDevices& uppers)
        : context_(context), subsystems_(subsystems), ports_(ports), uppers_(uppers), changes_(context) {}

    /// The tables of a team without ports, whose device was just made.
    Tables begin();
    /// The tables of an earlier daemon's running datapath, as far as known.
    const Tables& adopt();
    void run();
    /// After a change of the configuration: another runner starts; LACP goes on with its new settings.
    void reconfigure(const RunnerConfig& before);
    /// When to run again although nothing happens.
    std::optional<Clock::time_point> deadline() const;

    const Decision& decision() const { return decision_; }
    /// The slave of an active-backup bond that the runner wants to be active, if it decides that.
    std::optional<IfIndex> chosen() const { return chosen_; }
    const Tables& tables() const { return tables_; }
    /// Slots that own no bucket, because their ports are drained.
    SlotSet drained() const { return drained_; }
    /// Sets the active port until a port changes. EOPNOTSUPP: the runner has none; ENETDOWN: it has no link.
    Result<> choose_active(IfIndex port);
    /// nullptr: the runner is another one. Owned by this.
    lacp::System* lacp();
    /// The kernel's error messages for refused changes.
    std::vector<std::string> refused() const;

private:
    void await_mtu();
    void await_address();
    bool watches_any(bool (*wanted)(const LinkWatch&)) const;
    bool probes_tags() const;
    bool watches_tipc() const;
    RunnerStart runner_start() const;
    MacAddress lacp_system(const Link& team) const;
    void follow_address(const Link& team);
    void note_carrier();
    void start_runner();
    void leave_lacp();
    void decide();
    TeamPlan plan(const Link& team) const;
    Link team_before_loss();
    Member member(const TeamPort& port, const Link& team) const;
    Tables receiving_as_before(Tables tables) const;
    void note_short_loss(const TeamPlan& plan);
    using LinkLosses = std::array<std::uint32_t, max_ports + 1>;
    LinkLosses link_losses() const;
    BucketSet moved_buckets(const Tables& next);
    void announce_news(const TeamPlan& plan, bool had_link);
    void apply(const TeamPlan& plan);
    void log_decision(const Tables& next) const;
    void log_changes() const;
    void log_withheld(const TeamPlan& plan);
    std::string choice_text() const;
    void note_tables(const Result<>& applied);
    void announce_moved(const BucketSet& buckets, bool lost);
    void announce(bool by_kernel);

    TeamContext& context_;
    Subsystems& subsystems_;
    const PortSet& ports_;
    const UpperDevices& uppers_;
    DeviceChanges changes_;
    Runner runner_;
    std::size_t started_ = 0; ///< the index of the configured runner that runner_ was made for
    Decision decision_;
    std::optional<IfIndex> chosen_;
    Tables tables_;
    SlotSet drained_ = 0; ///< slots that own no bucket in tables_, because their ports are drained
    std::map<IfIndex, std::uint32_t> different_mtus_; ///< ports whose MTU was not the team's at the last pass
    bool moved_ = false;               ///< traffic may have moved without a change of the tables
    IfIndex active_{};                 ///< the active port when it last had a link
    std::uint32_t active_losses_ = 0;  ///< its Link::carrier_losses then
    BucketSet unannounced_;            ///< with slb: moved while the team had no link
    LinkLosses losses_{};              ///< link_losses() at the last pass
    LogOnce withheld_;                 ///< the team's carrier, by min_ports
    LogOnce failure_;                  ///< of the last write to the datapath
    std::optional<Patience> patience_; ///< after a failure of it
};

} // namespace teamo
