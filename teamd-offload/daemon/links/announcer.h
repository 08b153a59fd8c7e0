// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After a failover: announces the team's addresses and groups to switches and neighbours, as often as the
// configuration says (notify_peers, mcast_rejoin). The first announcement is sent at once.
#pragma once

#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "daemon/context/observer.h"
#include "kernel/packets/packet_socket.h"
#include "model/config.h"
#include "model/observation.h"

#include <memory>

namespace teamo {

class Announcer {
public:
    static Result<std::unique_ptr<Announcer>> make(sd_event* loop, const Log& log, const Observer& observer,
                                                   PacketSocket& socket);

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

    Announcer(const Log& log, const Observer& observer, PacketSocket& socket)
        : socket_(socket), log_(log), observer_(observer) {}
    void next(Round& round);
    void send(const Round& round);

    PacketSocket& socket_;
    const Log& log_;
    const Observer& observer_;
    Round peers_{.what = What::peers}, groups_{.what = What::groups};
};

} // namespace teamo
