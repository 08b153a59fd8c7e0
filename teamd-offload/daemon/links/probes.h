// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sends the probes of the ping watches and reads their answers, and asks TIPC for its links. What they mean
// is decided by PortWatch.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "kernel/packets/host_lookup.h"
#include "kernel/packets/packet_socket.h"
#include "kernel/packets/tipc_links.h"
#include "watch/port_watch.h"

#include <map>
#include <memory>
#include <set>

namespace teamo {

class Probes {
public:
    struct Port {
        IfIndex index;
        std::string name;
        MacAddress address;         ///< that the device has
        MacAddress own;             ///< that it had before it became a port
        bool carries = false;       ///< decides between validate_active and validate_inactive
        bool others_carry = false;  ///< another port does
        bool one_carries = false;   ///< at most one does (activebackup)
        PortWatch* watch = nullptr; ///< for this call
    };

    static Result<std::unique_ptr<Probes>> make(TeamContext& context);

    /// Before the watches are stepped, because a missing answer may have arrived. Then note_answers().
    void read_all();
    /// Tells the watch which probes were answered, and what TIPC reports.
    void note_answers(IfIndex port, PortWatch& watch);
    /// At the end of a pass: listens on these ports and no others, and sends what is due.
    void follow(const std::vector<Port>& ports);

private:
    struct Ping {
        LinkWatch watch{};
        std::string port{};
        MacAddress mac{}; ///< the source of its probes, and the destination of the answers
        bool carries = false, others_carry = false;
        bool answered = false, listens = true;
        bool is_done = false; ///< answered in this period, and the watch knows it
        SocketStore::Socket socket{};
        std::set<MacAddress> addresses{}; ///< that the socket receives besides its device's
        std::optional<Io> io{};
        LogOnce refused{}, unheard{}, unresolved{};
        std::optional<IpAddress> source{}, target{};
    };
    using Key = std::pair<IfIndex, std::size_t>; ///< the port and the number of its watch

    explicit Probes(TeamContext& context) : context_(context) {}
    void open(const Key& key, Ping& ping);
    void update(const Port& port, std::size_t watch);
    void listen();
    /// True: an answer is among the frames, perhaps to another port's probe.
    bool read(const Key& key, int most);
    /// Before a probe: older frames are no answers to it.
    void discard(const Key& key);
    bool note(const Key& key, std::span<const std::byte> frame);
    static bool is_answer(const Ping& ping, std::span<const std::byte> frame);
    void resolve(Ping& ping);
    /// False: the address of the target, or the socket, is missing.
    bool send(const Key& key, Ping& ping);
    void pause(const std::vector<Port>& ports);
    void follow_tipc(bool wanted);

    TeamContext& context_;
    HostLookup hosts_;
    std::map<Key, Ping> pings_;
    std::optional<TipcLinks> tipc_;
    std::optional<Io> tipc_io_;
    std::optional<Timer> tipc_timer_;
    Clock::time_point tipc_settled_{};
    LogOnce tipc_refused_;
};

} // namespace teamo
