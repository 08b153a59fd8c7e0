// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Carries the frames of the slow protocols between the ports and the runner lacp, keeps its time, and logs
// why a port does not carry.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "kernel/packets/packet_socket.h"
#include "lacp/system.h"
#include "model/observation.h"

#include <functional>
#include <map>
#include <memory>

namespace teamo {

class LacpFrames {
public:
    struct Port {
        IfIndex index;
        std::string name;
        MacAddress source; ///< of its frames
    };

    /// `system`: nullptr if the runner is another one.
    static Result<std::unique_ptr<LacpFrames>> make(TeamContext& context,
                                                    std::function<lacp::System*()> system);

    /// Listens on these ports too.
    void listen(const std::vector<Port>& ports);
    /// Reads what has arrived, before a timeout is believed. System::step() must follow. True: something may
    /// have changed.
    bool read_all();
    /// Listens on no others any more. Call it after send_due(), which has their last LACPDUs.
    void forget_others(const std::vector<Port>& ports);
    /// True if a port has no socket: the next listen() tries again.
    bool has_refused() const { return system_() != nullptr && !refused_.empty(); }
    /// Sends what is due. Call it when the tables are applied: what a LACPDU says must be true.
    void send_due();

private:
    struct Wire {
        Port port;
        SocketStore::Socket socket;
        Io io;
        LogOnce failure{};
        /// What was logged last, whether by fallback, and the partner (without its state).
        std::optional<std::tuple<lacp::NotSelected, bool, lacp::PortInfo>> logged{};
    };

    LacpFrames(TeamContext& context, std::function<lacp::System*()> system)
        : context_(context), system_(std::move(system)) {}
    void open(const Port& port);
    /// True: something may have changed.
    bool read(IfIndex port);
    void keep_time();
    void send(lacp::System& system, const lacp::Outgoing& outgoing);
    void log_reason(Wire& wire, const lacp::PortStatus& status);

    TeamContext& context_;
    std::function<lacp::System*()> system_;
    std::optional<Timer> timer_;
    std::map<IfIndex, Wire> wires_;
    std::map<IfIndex, LogOnce> refused_; ///< ports where no socket could be opened
};

/// The first act of a daemon that adopts a team: sends for each port what the earlier daemon would have sent
/// next, because loading the datapath's programs takes a while and the partner's timeout may be close. Does
/// nothing if the team has no LACP of ours.
void continue_lacp(const std::string& team, const Links& links, PacketSocket& socket);

} // namespace teamo
