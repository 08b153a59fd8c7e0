// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Knows what each port fails together with: reads its place, and listens for the LLDP of its switch
// (docs/adr/0030). Sends nothing.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "kernel/packets/packet_socket.h"
#include "lldp/lldpdu.h"

#include <memory>
#include <set>

namespace teamo {

class FailureDomains {
public:
    static Result<std::unique_ptr<FailureDomains>> make(TeamContext& context);

    void follow(const std::set<IfIndex>& ports);
    /// As far as known now.
    FailureDomain of(IfIndex port) const;

private:
    struct Port {
        std::optional<FailureDomain> place{}; ///< none: it could not be read yet
        lldp::Neighbours neighbours{};
        SocketStore::Socket socket{};
        std::optional<Io> io{};
        bool pauses = false;
        bool is_earlier = false; ///< what the socket has is from before this process
        LogOnce failure{};
    };

    explicit FailureDomains(TeamContext& context) : context_(context) {}
    /// Does not request a pass for the other runners: only activebackup decides by it.
    void note_change();
    void read_place(IfIndex index, Port& port);
    Result<> listen(IfIndex index, Port& port);
    void read(IfIndex index);
    void resume();

    TeamContext& context_;
    std::optional<Timer> timer_; ///< ends the pauses
    std::map<IfIndex, Port> ports_;
};

} // namespace teamo
