// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After a failover: tells switches and neighbours where the team's addresses are now, as often as the
// configuration says (notify_peers, mcast_rejoin), the first time at once.
#pragma once

#include "kernel/packets/packet_socket.h"
#include "log.h"
#include "loop.h"
#include "model/config.h"
#include "model/observation.h"

#include <functional>
#include <memory>

namespace teamo {

class Announcer {
public:
    /// `links` gives the devices as they are when a repetition is due.
    static Result<std::unique_ptr<Announcer>> make(sd_event* loop, const Log& log,
                                                   std::function<const Links&()> links);

    /// `kernel_tells`: of all addresses the kernel does by itself; who has none is left to us.
    void announce(IfIndex team, Repetition peers, Repetition groups, bool kernel_tells);

private:
    enum class What { peers, groups };
    struct Round {
        What what;
        std::optional<Timer> timer;
        IfIndex team{};
        Repetition left{};
        bool only_without_address = false;
    };

    Announcer(PacketSocket socket, const Log& log, std::function<const Links&()> links)
        : socket_(std::move(socket)), log_(log), links_(std::move(links)) {}
    void next(Round& round);
    void send(const Round& round);

    PacketSocket socket_;
    const Log& log_;
    std::function<const Links&()> links_;
    Round peers_{.what = What::peers, .timer = {}}, groups_{.what = What::groups, .timer = {}};
};

} // namespace teamo
