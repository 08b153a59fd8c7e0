// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After a failover: announces the team's addresses and groups to switches and neighbours, as often as the
// configuration says (notify_peers, mcast_rejoin). The first announcement is sent at once.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"

#include <memory>

namespace teamo {

class Announcer {
public:
    static Result<std::unique_ptr<Announcer>> make(TeamContext& context);

    /// `kernel_announces`: the kernel announces all devices that have an IP address; we announce the others.
    /// `inner`: the other end of the team's pair, if it has one.
    void announce(IfIndex team, IfIndex inner, Repetition peers, Repetition groups, bool kernel_announces);

private:
    enum class What { peers, groups };
    struct Round {
        What what;
        std::optional<Timer> timer{};
        IfIndex team{}, inner{};
        Repetition left{};
        bool only_without_address = false;
    };

    explicit Announcer(TeamContext& context) : context_(context) {}
    void next(Round& round);
    void send(const Round& round);

    TeamContext& context_;
    Round peers_{.what = What::peers}, groups_{.what = What::groups};
};

} // namespace teamo
