// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One team from start to stop, and its parts.
#pragma once

#include "control/usock_message.h"
#include "daemon/context/loop.h"
#include "daemon/team/bond_follower.h"
#include "daemon/team/devices.h"
#include "daemon/team/ports/port_set.h"
#include "daemon/team/reconciler.h"
#include "daemon/team/subsystems.h"
#include "model/status.h"

namespace teamo {

/// The parts of one team. Each owns its state. They are not movable, since they refer to one another.
struct TeamParts {
    explicit TeamParts(TeamContext with) : context(std::move(with)) {}
    TeamParts(const TeamParts&) = delete;
    TeamParts& operator=(const TeamParts&) = delete;

    TeamContext context;
    Subsystems subsystems{};
    PortSet ports{context, subsystems};
    UpperDevices uppers{context};
    Reconciler reconciler{context, subsystems, ports, uppers};
    BondFollower bond{context, subsystems, ports};
};

/// The team, its links and its ports, without what the subsystems report.
TeamStatus summary_of(TeamParts& parts);
/// Everything that the state document shows.
TeamStatus status_of(TeamParts& parts);

/// Makes the reply after the pass that the request needs.
using MakeReply = std::function<control::Reply()>;

/// Begins to carry out a request. The caller runs one pass, and then calls what is returned.
MakeReply begin_request(TeamParts& parts, const control::Request& request);

/// Runs the pass over the parts.
class Team : private TeamParts {
public:
    /// Makes the team, or continues the one that an earlier daemon left. On failure everything is as it was.
    /// `changed` is called when the set of ports that carry changes, `failed` when the team cannot continue,
    /// for example because its device was removed.
    static Result<std::unique_ptr<Team>> start(Configuration configuration, Options options, Log& log,
                                               sd_event* loop, ProcessParts& shared,
                                               std::function<void()> changed,
                                               std::function<void(Error)> failed);

    /// stop() leaves the devices as they are, as with the option no_quit_destroy.
    void keep_devices() { context.options.no_quit_destroy = true; }
    /// Restores all devices, unless no_quit_destroy is set.
    void stop();
    /// After a failed start: removes the device if this process made it; an adopted team continues to run.
    void abandon();

    /// Carries out a request, with one pass.
    control::Reply answer(const control::Request& request);
    TeamStatus summary() { return summary_of(*this); }
    const Configuration& configuration() const { return context.configuration; }
    /// The state document.
    json::Value state();

private:
    Team(TeamContext context, std::function<void(Error)> failed)
        : TeamParts(std::move(context)), failed_(std::move(failed)) {}

    Result<> open();
    Result<std::optional<TeamDevice>> find_device();
    Result<> remove_existing();
    Result<> remove_half_made();
    Result<> make_device();
    void note_device(const FeatureNames& kept);
    Result<> adopt_device(const TeamDevice& device);
    Result<TeamDevice> find_bond(const std::optional<Journal>& journal);
    Result<> attach_to_bond();
    void remove_device(Clock::time_point until);
    void pass();
    void reconcile();
    bool update_ports();
    std::vector<LacpFrames::Port> lacp_ports();
    Interest interest() const;
    void inform_subsystems();
    void set_timer(bool again);
    void poll_unreported();

    std::function<void(Error)> failed_;
    std::optional<Deferred> pass_soon_; ///< for passes requested by subsystems
    std::optional<Timer> timer_;        ///< the next deadline of a part
    std::optional<Timer> poll_timer_;   ///< for changes that the kernel does not report
    std::optional<Io> datapath_events_;
    unsigned polls_ = 0;       ///< poll_unreported()
    bool made_device_ = false; ///< by this process: a failed start removes it again
};

} // namespace teamo
