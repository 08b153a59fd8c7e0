// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Keeps the guard of a team: the program on each port, and the addresses that it knows (docs/adr/0029).
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "datapath/guard_program.h"
#include "kernel/netlink/netlink_socket.h"
#include "plan/team/guard_plan.h"

#include <optional>
#include <set>

namespace teamo {

class Guard {
public:
    explicit Guard(TeamContext& context) : context_(context) {}

    /// Puts the program on a port, in place of an earlier daemon's, or removes it if the guard is off.
    Result<> attach(IfIndex port);
    /// True if attach() of this port failed and may succeed later (is_passing()).
    bool is_due(IfIndex port) const { return due_.contains(port); }

    /// After a pass. Reads the addresses again only if a device of the team has changed.
    void follow(const std::set<IfIndex>& ports);
    /// Every second: reads what the kernel does not report, and lets the program drop for another while.
    void poll();

    GuardStatus status() const;

private:
    struct Running {
        GuardProgram program;
        NetlinkSocket events;
        std::optional<Io> io{};
        std::optional<Deferred> read_soon{};
        GuardPlan plan{};
        bool is_applied = false;     ///< the program has the plan
        std::vector<Link> devices{}; ///< devices() when the plan was made
        LogOnce failure{};
    };

    bool is_on() const { return context_.config().guard != GuardMode::off; }
    Result<> start();
    Result<> put(IfIndex port);
    void update();
    std::vector<Link> devices() const;

    TeamContext& context_;
    std::set<IfIndex> ports_, due_;
    std::optional<Running> running_; ///< none: the guard is off, or could not start
};

} // namespace teamo
