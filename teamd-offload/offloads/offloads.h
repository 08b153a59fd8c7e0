// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Applies the offload contract of one team: sets its ports' offloads, watches them, and sets them again when
// another program changes them.
#pragma once

#include "journal_keeper.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/ethtool/ethtool_events.h"
#include "log.h"
#include "loop.h"
#include "model/observation.h"
#include "model/status.h"
#include "offloads/offload_trial.h"
#include "plan/team/offloads.h"
#include "plan/team/repair.h"

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace teamo {

class Offloads {
public:
    using Time = Repair::Time;

    /// `kernel_manages_ports`: the team driver sets VLAN filters and LRO itself. `trial`: while it measures a
    /// port, this class ignores that port.
    static Result<std::unique_ptr<Offloads>> make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                  bool kernel_manages_ports, JournalKeeper& journal,
                                                  const OffloadTrial& trial,
                                                  std::function<void()> request_pass);

    /// Sets the offloads of a new port as the contract says. `kept`: the offloads that it had when it joined,
    /// from an earlier daemon; empty: those it has now. A port whose features cannot be read or changed is
    /// used as it is. EOPNOTSUPP: it lacks an offload, and the contract refuses such ports.
    Result<> add(const Link& port, const OffloadContract& contract, const FeatureNames& kept);
    /// Watches the team's own device; nothing is switched off on it.
    void add_team(const Link& team, const OffloadContract& contract, const FeatureNames& kept);
    void remove(IfIndex device);
    void change(IfIndex port, const OffloadContract& contract);

    /// Reads stale devices, and repairs what differs from the plan. True: features have changed since the
    /// last step.
    bool step(Time now);
    /// When to step although nothing happens.
    std::optional<Time> deadline() const;
    /// Reads the device again in the next step, for example after a new link or a reset.
    void mark_stale(IfIndex device);

    /// Ports whose speed or duplex was set since the last call.
    std::set<IfIndex> take_new_modes() { return std::exchange(new_modes_, {}); }

    const Features& features(IfIndex device) const;
    FeatureNames kept(IfIndex device) const;
    /// Whether the port carries only while no other port can.
    bool is_last(IfIndex port) const;
    DeviceOffloads status(IfIndex device) const;

private:
    struct Device {
        IfIndex index;
        std::string name, title; ///< "eth1", "port eth1"
        bool is_team = false;
        OffloadContract contract;
        Features features{};
        FeatureNames kept{};
        OffloadPlan plan{};
        Repair repair{};
        FeatureSettings conceded{}; ///< left to another program
        Time conceded_at{};
        FeatureNames drifted{};                    ///< changed by others since it was last right
        FeatureSettings refused{};                 ///< what its driver did not change
        std::optional<Patience> patience{};        ///< set while its driver is busy
        LogOnce refused_message{}, left_message{}; ///< of `refused`; of what is left to another program
        FeatureNames logged_lacking{};
        unsigned repaired = 0;
        bool stale = false;
    };

    Offloads(const Log& log, Ethtool& ethtool, bool kernel_manages_ports, JournalKeeper& journal,
             const OffloadTrial& trial, std::function<void()> request_pass)
        : log_(log),
          ethtool_(ethtool),
          kernel_manages_ports_(kernel_manages_ports),
          journal_(journal),
          trial_(trial),
          request_pass_(std::move(request_pass)) {}
    bool is_in_trial(IfIndex port) const { return trial_.runs_on(port); }
    Result<> remember(const Device& port, const FeatureSettings& settings);
    Result<> listen(sd_event* loop);
    void take_events();
    static Features as_seen(const Device& device, Features features);
    static FeatureSettings before(const Device& device, const FeatureSettings& settings);
    Device* find(IfIndex index);
    const Device* find(IfIndex index) const;
    void make_plans();
    FeatureSettings wrong(const Device& device) const;
    void reread(Device& device);
    void reconcile(Device& device, Time now);
    void repair(Device& device, const FeatureSettings& settings, Time now);
    static void reclaim_conceded(Device& device, Time now);
    bool set(Device& device, const FeatureSettings& settings);
    void log_repaired(const Device& device, const FeatureSettings& settings) const;
    void log_given_up(Device& device, const FeatureSettings& settings) const;
    void log_lacking(Device& device) const;

    const Log& log_;
    Ethtool& ethtool_;
    bool kernel_manages_ports_;
    JournalKeeper& journal_;
    const OffloadTrial& trial_;
    std::function<void()> request_pass_;
    std::optional<EthtoolEvents> events_; ///< none: this kernel reports no changes
    std::optional<Io> io_;
    std::vector<Device> devices_;
    std::set<IfIndex> new_modes_;
    bool changed_ = false;   ///< since the last step
    bool plans_due_ = false; ///< the input of the plans has changed
};

} // namespace teamo
