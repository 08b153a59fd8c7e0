// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Applies the offload contract of one team: sets its ports' offloads, watches them, and sets them again when
// another program changes them. Switches a port's TSO off and on for a measurement (teamoctl doctor).
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "kernel/ethtool/ethtool.h"
#include "model/observation.h"
#include "model/status.h"
#include "plan/team/offload_plan.h"
#include "plan/team/repair.h"

#include <memory>
#include <set>
#include <vector>

namespace teamo {

class Offloads {
public:
    static Result<std::unique_ptr<Offloads>> make(TeamContext& context);
    ~Offloads() { end_trial(); }

    /// Sets the offloads of a new port as the contract says. `kept`: the offloads that it had when it joined,
    /// from an earlier daemon; empty: those it has now. A port whose features cannot be read or changed is
    /// used as it is. EOPNOTSUPP: it lacks an offload, and the contract refuses such ports.
    Result<> add(const Link& port, const OffloadContract& contract, const FeatureNames& kept);
    /// Watches the team's own device; nothing is switched off on it.
    void add_team(const Link& team, const OffloadContract& contract, const FeatureNames& kept);
    void remove(IfIndex device);
    void change(IfIndex port, const OffloadContract& contract);

    /// Reads stale devices, repairs what differs from the plan. True: features changed since the last step.
    bool step(Clock::time_point now);
    /// When to step although nothing happens.
    std::optional<Clock::time_point> deadline() const;
    /// Reads the device again in the next step, for example after a new link or a reset.
    void mark_stale(IfIndex device);

    /// Ports whose speed or duplex was set since the last call.
    std::set<IfIndex> take_new_modes() { return std::exchange(new_modes_, {}); }

    const Features& features(IfIndex device) const { return find(device).features; }
    const FeatureNames& kept(IfIndex device) const { return find(device).kept; }
    /// Whether the port carries only while no other port can.
    bool is_last(IfIndex port) const { return find(port).is_last(); }
    DeviceOffloads status(IfIndex device) const;

    // ---- trials: a port whose TSO is measured ----------------------------------------------------------
    // Changes of its features are ignored and not repaired. The client may be killed at any moment, and so
    // may this daemon: a trial ends by itself, and the journal has the previous settings until then.

    /// on, off: begins a trial, or continues it for 5 s. EBUSY: another port is tried; EOPNOTSUPP: no TSO.
    Result<> request_trial(IfIndex port, const std::string& name, TrialState state);
    /// Ends a trial, if one runs, and restores the features. `port`: only a trial on this port.
    void end_trial(IfIndex port = {});
    /// Ends a trial whose port is gone: there is nothing to restore.
    void forget_vanished_trial();
    /// Ends the trials of an earlier daemon that was killed.
    void end_leftover_trials(std::vector<PortBefore>& ports);

private:
    struct Device {
        IfIndex index;
        std::string name, title; ///< "eth1", "port eth1"
        bool is_team = false;
        bool is_known = false; ///< its features were read
        OffloadContract contract;
        Features features{};
        FeatureNames kept{};
        bool distrusts_tso = false;
        OffloadPlan plan{};
        Repair repair{};
        FeatureSettings conceded{}; ///< left to another program
        Clock::time_point conceded_at{};
        FeatureNames drifted{};                    ///< changed by others since it was last right
        FeatureSettings refused{};                 ///< what its driver did not change
        std::optional<Patience> patience{};        ///< set while its driver is busy
        LogOnce refused_message{}, left_message{}; ///< of `refused`; of what is left to another program
        FeatureNames logged_lacking{};
        unsigned repaired = 0;
        bool stale = false;
        Clock::time_point read_again{}; ///< if it is stale

        bool is_last() const {
            return contract.lacking != Lacking::accept && !lacking(plan, features).empty();
        }
    };

    explicit Offloads(TeamContext& context) : context_(context) {}
    void note(const EthtoolEvents::Seen& seen);
    const Device& find(IfIndex index) const;
    Result<> remember(const Device& port, const FeatureSettings& settings);
    void make_plans();
    FeatureSettings wrong(const Device& device) const;
    /// Its TSO is measured, or another device has its index.
    bool is_left_alone(const Device& device) const;
    void reread(Device& device);
    void reconcile(Device& device, Clock::time_point now);
    void repair(Device& device, const FeatureSettings& settings, Clock::time_point now);
    bool set(Device& device, const FeatureSettings& settings);
    static void note_refused(Device& device, const FeatureSettings& tried, const FeatureSettings& refused);
    static void begin_with(Device& port, Features features);
    void log_repaired(const Device& device, const FeatureSettings& settings) const;
    void log_lacking(Device& device) const;
    void end_silent_trial();
    Result<> begin_trial(IfIndex port, const std::string& name);
    void restore_tso(PortBefore& port) const;

    TeamContext& context_;
    Broadcast<EthtoolEvents::Seen>::Listener listener_;
    std::vector<Device> devices_;
    std::set<IfIndex> new_modes_;
    IfIndex tried_; ///< none: no trial runs
    std::optional<Timer> trial_limit_;
    bool changed_ = false;   ///< since the last step
    bool plans_due_ = false; ///< the input of the plans has changed
};

} // namespace teamo
