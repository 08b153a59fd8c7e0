// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ports of a team: how they join, leave, vanish and return, and how those of an earlier daemon are
// adopted. Only this folder edits their entries in the journal.
#pragma once

#include "base/result.h"
#include "daemon/team/ports/port_devices.h"
#include "daemon/team/ports/port_entries.h"
#include "daemon/team/ports/refusals.h"
#include "daemon/team/subsystems.h"
#include "plan/team/membership.h"
#include "plan/team/repair.h"
#include "runner/runner.h"
#include "watch/damping_state.h"
#include "watch/port_watch.h"

namespace teamo {

struct TeamPort {
    IfIndex index;
    Slot slot;
    std::string key;  ///< in the configuration: a name of the device, or one that it had
    std::string name; ///< of the device at the last pass
    PortConfig config;
    PortWatch watch;
    std::optional<Damping> damping{};
    bool loss_is_new = false;                 ///< not told to `damping` yet
    LinkStatus modes{};                       ///< speed and duplex as last read
    std::uint32_t modes_losses = 0;           ///< Link::carrier_losses then
    std::optional<Patience> modes_patience{}; ///< of a link whose speed is not known yet
    bool had_link = false;
    LogOnce users{}; ///< devices on it that receive nothing
};

class PortSet {
public:
    PortSet(TeamContext& context, Subsystems& subsystems) : context_(context), subsystems_(subsystems) {}

    PortEntries& entries() { return entries_; }
    /// In the order they joined.
    const std::vector<TeamPort>& all() const { return ports_; }
    /// By a name that the device has now, which may have changed since the port joined; nullptr: no port.
    const TeamPort* find(std::string_view name) const;
    /// The name under which the configuration has a device, or can have it.
    std::string key_of(const Link& link) const;

    // ---- the ports as others need them ---------------------------------------------------------------
    std::vector<Candidate> candidates() const;
    /// True if a link that has returned needs a decision of ours before it carries.
    bool waits(const TeamPort& port) const;
    /// `active`: in an activebackup team all other ports stand by.
    std::vector<Interrupts::Port> interrupt_ports(std::optional<IfIndex> active) const;
    std::vector<PortCpus::Port> cpu_ports() const;
    /// `drained`: slots that get no bucket.
    std::vector<Balancing::Port> balanced_ports(const Tables& tables, SlotSet drained) const;
    std::vector<Losses::Port> loss_ports(const Tables& tables) const;
    /// Those that are drained. `lacp`: nullptr if the daemon does not speak it.
    std::vector<Drains::Port> drain_ports(const Tables& tables, const lacp::System* lacp) const;
    /// How far it is drained, for the runner.
    DrainPhase drain_phase(const TeamPort& port) const;
    bool is_drained(const TeamPort& port) const { return drain_phase(port) != DrainPhase::none; }
    /// Whether the ports of this team can be drained at all.
    Result<> can_drain() const;
    DrainStatus drain_status(const TeamPort& port) const;
    /// Tells the watches what the tables mean for them. Valid until the ports change.
    std::vector<Probes::Port> probed(const Tables& tables);

    // ---- a pass (port_set.cpp) -----------------------------------------------------------------------
    /// Removes ports whose device is gone, or that another program removed, from the set. Touches no device.
    void drop_lost();
    /// True if a device that was lost may be there again: nothing may join it before a pass has ended.
    bool has_returned() const { return !returned_.empty(); }
    /// Steps the link watches by what the observer shows.
    void step_watches();
    /// The slow part: restores ports that left, adds ports that appeared or that other programs added.
    /// True: something changed.
    bool update_membership();
    /// The next time that a pass is needed without an event; none: no time.
    std::optional<Clock::time_point> deadline() const;
    /// Reads what the kernel does not report: GSO limits (net/core/rtnetlink.c: do_setlink), and that IPv6
    /// was switched on for a port without a link or of a driver, or for the inner end, which is down while no
    /// port carries (net/ipv6/addrconf.c: addrconf_notify). True: some have changed.
    bool update_unreported();
    /// Looks for awaited devices by their names, because one that is down gets an alternative name without an
    /// event. True: one is there.
    bool find_awaited();
    /// Of the devices that are, or may become, a port.
    std::vector<std::string> wanted_names() const;
    /// Forgets a refusal whose reason was a user in another namespace that has gone. True: there was one.
    bool poll_refused() { return refusals_.poll(); }

    // ---- requests and start --------------------------------------------------------------------------
    /// Refuses a new configuration of a running team with a port that cannot join.
    Result<> check(const TeamConfig& config) const;
    /// Refuses two ports that are one device.
    Result<> check_distinct(const TeamConfig& config) const;
    /// At the start. A port that cannot join is named and tried again; the team goes on without it.
    void join_configured();
    /// A guest: the slaves of the bond become ports, with the slots that they had.
    void join_slaves();
    /// Puts an adopted port into the datapath of this daemon.
    Result<> attach_adopted(IfIndex port);
    /// Puts all ports into a datapath that takes the place of another. The other's program stays where the
    /// kernel refuses this: for a passing reason until a later pass succeeds, else until a reload.
    void attach_all();
    /// Tries again where it was refused.
    void attach_refused();
    /// Notes that an adopted port could not be attached.
    void note_unattached(const TeamPort& port, const Error& error);
    /// True: a pass within a second is needed for that.
    bool has_unattached() const;
    /// Makes a device a port, or finishes the join of an earlier daemon. EEXIST: it is one already. EAGAIN:
    /// it was renamed meanwhile.
    Result<> join(IfIndex port);
    /// The next pass stops using the port, then restores it. ENODEV: no port.
    Result<> begin_leaving(IfIndex port);
    /// Notes in the journal that a port was removed by hand: it joins again only by a request or another
    /// file.
    void note_removed(const Link& link, const std::string& key);
    /// Drains a port by hand, or ends that. The next pass begins with it.
    void drain(const TeamPort& port, bool forced);
    void undrain(const TeamPort& port);
    /// Call after the pass that begin_leaving() needs: why the port was not restored. A passing failure is
    /// not reported; it is tried again.
    Result<> take_leave_result(IfIndex port);
    /// All ports leave, and none joins again.
    void begin_leaving_all();
    /// Blocks until all leaving ports are restored, or until then; returns how many are not.
    std::size_t await_leaving(Clock::time_point until);
    /// Takes over what the configuration has about each port; `watches_anew`: also if its own are the same.
    void reconfigure_ports(bool watches_anew = false);
    /// Takes over a whole configuration. Ports that it no longer has leave, and new ones join.
    void reconfigure(const TeamConfig& before);

    // ---- ports of an earlier daemon (port_join.cpp) ----------------------------------------------------
    /// Restores the ports of a team whose device is gone, before their state is read.
    Result<> clear_leftovers();
    /// Adopts the ports of the journal in their order, then devices that have the mark and no entry.
    void adopt(std::vector<PortBefore> noted);
    void adopt_offloads();
    /// Finishes joins and leaves during which the earlier daemon was killed.
    void finish_begun();
    /// Puts the guard on all ports, or removes it, after its configuration has changed.
    void guard();
    /// Every second: also on ports where the kernel has refused it for a passing reason.
    void poll_guard();

    /// For the state document.
    std::vector<RefusedStatus> refused() const;

private:
    static std::optional<Damping> damping_of(const PortConfig& config, const PortBefore& before);
    PortWatch make_watch(const PortConfig& config, PortWatch::Start start) const;
    PortConfig config_of(std::string_view port) const;
    void read_modes(TeamPort& port);
    bool counts_as_up(const PortWatch& watch) const;
    bool is_unused_by_bond(const TeamPort& port) const;
    bool is_kept_out(const TeamPort& port) const;
    bool is_alone(const TeamPort& port) const;
    const PortDrain& noted_drain(const TeamPort& port) const;
    void note_drain_phases();
    void end_needless_delay();
    void step_damping(TeamPort& port, Clock::time_point now);
    bool is_last(const TeamPort& port) const;
    void remove(IfIndex port);
    void drop_removed_by_others();
    bool join_added_by_others();
    bool has_port(const std::string& key) const;
    void await_configured();
    bool join_awaited();
    void note_users();
    void note_shared_address();
    void note_idle_xdp();
    bool finish_due_leaves();
    Result<> finish_leaving(IfIndex port);
    std::set<IfIndex> replaced();
    std::vector<std::string> configured_names() const;
    void follow_configured();
    bool is_named(const TeamPort& port, const std::vector<std::string>& names) const;
    void attach_rest();
    /// `others_carry`: another port has had its link all the time.
    void adopt_port(const PortBefore& port, const Link& link, bool others_carry);

    bool team_goes_on() const { return !ports_.empty() && !ends_; }

    TeamContext& context_;
    Subsystems& subsystems_;
    PortEntries entries_{context_};
    PortDevices devices_{context_, subsystems_, entries_};
    Refusals refusals_{context_};
    std::vector<TeamPort> ports_;

    std::set<std::string> awaited_; ///< devices that are to join
    bool ends_ = false;             ///< no port joins any more
    /// Devices that were removed and exist again, or may before the pass ends. They join in a later pass,
    /// when every part has forgotten what it had of the former device.
    std::set<IfIndex> returned_;
    bool joins_returned_ = false; ///< another pass is needed for them
    LogOnce shared_address_;      ///< other devices are up with the team's address
    LogOnce idle_xdp_;            ///< the team has an XDP program that sees no frame
    /// A port that is not restored yet.
    struct Leaving {
        Patience patience{};
        bool requested = false;         ///< by begin_leaving(): its end is logged
        bool removed_by_others = false; ///< by another program: only our settings are undone
        bool logged = false;
        std::string name{};
    };
    std::map<IfIndex, Leaving> leaving_;
    /// A port with another datapath's program, or none.
    struct Unattached {
        LogOnce failure{};
        bool again = true; ///< by the next pass
    };
    std::map<IfIndex, Unattached> unattached_; ///< by attach_all()
    std::map<IfIndex, Error> leave_failures_;  ///< for take_leave_result()
};

} // namespace teamo
