// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One team from start to stop. Owns the parts of the team and runs the pass over them.
#pragma once

#include "control/usock_message.h"
#include "loop.h"
#include "model/status.h"
#include "team/parts.h"

#include <functional>
#include <memory>
#include <optional>

namespace teamo {

class Team {
public:
    /// Makes the team, or continues the one that an earlier daemon left. On failure everything is as it was.
    /// `failed` is called when the team cannot continue, for example because its device was removed.
    static Result<std::unique_ptr<Team>> start(Configuration configuration, TeamOptions options, Log& log,
                                               sd_event* loop, std::function<void(Error)> failed);

    /// Restores all devices, unless keep_on_stop is set.
    void stop();
    /// After a failed start: removes the device if this process made it; an adopted team continues to run.
    void abandon();

    /// Carries out a request, with one pass.
    control::Reply answer(const control::Request& request);
    TeamStatus status();

private:
    Team(TeamContext context, std::function<void(Error)> failed)
        : parts_(std::move(context)), failed_(std::move(failed)) {}

    // team_start.cpp
    Result<> open(sd_event* loop);
    Result<> make_timers(sd_event* loop);
    Result<std::optional<TeamDevice>> find_device();
    Result<> remove_existing();
    Result<> remove_half_made();
    Result<> make_device();
    Result<> adopt_device(const TeamDevice& device);
    Result<> listen(sd_event* loop);
    void remove_device(Clock::time_point until);

    // team.cpp
    void pass();
    bool update_ports();
    void inform_subsystems();
    void set_timer(bool again);
    void poll_unreported();

    TeamParts parts_;
    std::function<void(Error)> failed_;
    std::optional<Deferred> pass_soon_; ///< for passes requested by subsystems
    std::optional<Timer> timer_;        ///< the next deadline of a part
    std::optional<Timer> poll_timer_;   ///< for changes that the kernel does not report
    std::optional<Io> datapath_events_;
    bool made_device_ = false; ///< by this process: a failed start removes it again
};

} // namespace teamo
