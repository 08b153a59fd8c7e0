// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ports of a team: how they join, leave, vanish and come back, and what an earlier daemon left of them.
// Their entries in the journal are edited here only.
#pragma once

#include "base/failures.h"
#include "plan/team/patience.h"
#include "runner/runner.h"
#include "team/context.h"
#include "team/subsystems.h"
#include "watch/port_watch.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace teamo {

struct TeamPort {
    IfIndex index;
    Slot slot;
    std::string name; ///< as in the configuration
    PortConfig config;
    PortWatch watch;
    LinkStatus modes; ///< speed and duplex as last read
    bool had_link = false;
};

class PortSet {
public:
    PortSet(TeamContext& context, Subsystems& subsystems) : context_(context), subsystems_(subsystems) {}

    /// In the order they joined.
    const std::vector<TeamPort>& all() const { return ports_; }
    /// By the name that the device has now, which may have changed since the port joined; nullptr: no port.
    const TeamPort* find(std::string_view name) const;
    /// What the runner decides by.
    std::vector<Candidate> candidates() const;

    // ---- a pass (port_set.cpp) -----------------------------------------------------------------------
    /// Forgets ports whose device is gone, or that another program took out. Changes no device.
    void drop_lost();
    /// Steps the link watches by what the observer shows.
    void step_watches();
    /// What takes longer: restores ports that left, takes in those that others added or that appeared.
    /// True: something changed.
    bool settle_membership();
    /// When to do that again although nothing happens; none: not.
    std::optional<Clock::time_point> deadline() const;
    /// Reads GSO limits, whose changes the kernel reports to nobody (net/core/rtnetlink.c: do_setlink).
    /// True: some have changed.
    bool update_gso_limits();

    // ---- requests and start --------------------------------------------------------------------------
    /// Refuses a configuration with a port that cannot join, before anything is made.
    Result<> check_configured() const;
    /// `made_device`: a new team refuses to start without its ports; one that carries goes on without.
    Result<> join_configured(bool made_device);
    /// Makes a device a port, or finishes what an earlier daemon began.
    Result<> join(IfIndex port);
    /// The port carries no more after the next pass, which restores it. ENODEV: no port.
    Result<> begin_leaving(IfIndex port);
    /// After that pass: why it was not restored; a failure that may pass is no failure.
    Result<> take_leave_result(IfIndex port);
    /// Everything leaves, and nothing comes back.
    void begin_leaving_all();
    /// Tries until then; the number of ports that are not restored.
    std::size_t await_leaving(Clock::time_point until);
    /// The configuration has changed.
    void reconfigure();

    // ---- what an earlier daemon left (port_adopt.cpp) --------------------------------------------------
    /// Ports of a team whose device is gone are restored before anything else reads their state.
    Result<> clear_leftovers();
    /// Known ports first and in their order; then those that have the mark and no entry.
    void adopt(const std::vector<PortBefore>& noted);
    void adopt_offloads();
    /// Finishes what the earlier daemon was about to do with a port when it was killed.
    void finish_begun();

    /// For the state document.
    std::vector<RefusedStatus> refused() const;

private:
    PortConfig config_of(std::string_view port) const;
    Result<Slot> free_slot() const;
    bool is_slave(const Link& link) const;
    bool is_ours(const Link& link) const;
    PortBefore begin(const Link& link, Slot slot);
    Result<> take_in(const Link& link, const PortConfig& config, PortBefore& before);
    void note_addresses(const Link& link, PortBefore& port);
    void read_modes(TeamPort& port);
    void remove(IfIndex port);
    void drop_taken_out();
    bool join_added_by_others();
    bool join_awaited();
    void note_refusal(const std::string& port, const Error& refusal);
    bool is_worth_trying(const std::string& port, const Link& link) const;
    bool settle_due();
    Result<> settle(IfIndex port);
    Result<> restore(const PortBefore& port);
    Result<> restore_features(const PortBefore& port);
    Result<> release(const PortBefore& port);
    Result<> unmark(IfIndex port, const Failures& failures);
    void adopt_port(const PortBefore& port, const Link& link);

    TeamContext& context_;
    Subsystems& subsystems_;
    std::vector<TeamPort> ports_;

    std::set<std::string> awaited_; ///< configured ports that are not in
    /// A port whose device is there and could not join.
    struct Refused {
        std::pair<IfIndex, std::vector<std::string>> seen; ///< master and marks then: others may let it in
        std::string text;                                  ///< logged
        std::optional<Patience> patience;                  ///< if it may pass by itself
    };
    std::map<std::string, Refused> refused_; ///< by name
    /// A port that is not restored yet.
    struct Leaving {
        Patience patience{};
        bool requested = false; ///< by begin_leaving(): its end is logged
        bool taken_out = false; ///< by another program: only our settings are undone
        bool logged = false;
        std::string name{};
    };
    std::map<IfIndex, Leaving> leaving_;
    std::map<IfIndex, Error> leave_failures_; ///< for take_leave_result()
};

} // namespace teamo
