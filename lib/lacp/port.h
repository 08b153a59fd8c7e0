// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One port (the standard's Aggregation Port) with its variables and machines. What several ports decide
// together is in system.h.
#pragma once

#include "lacp/machines.h"
#include "model/status.h"

namespace teamo::lacp {

/// A port as the team sees it.
struct Link {
    IfIndex port;
    std::uint16_t number = 0; ///< 1 or more; the same after a restart
    bool up = false;          ///< it has a link, and the team is up
    bool held = false;        ///< must not distribute; with coupled control the link is then not up
    /// Silent: must not distribute. Out: the partner hears that the port does not collect either, so that it
    /// stops; what arrives until then is still received.
    DrainPhase drain = DrainPhase::none;
    std::uint32_t speed = 0; ///< Mbit/s; 0: unknown
    Duplex duplex = Duplex::unknown;
    std::uint16_t priority = 255; ///< lacp_prio; lower is better
    std::uint16_t key = 0;        ///< lacp_key; 0: by the speed
    std::int32_t preference = 0;  ///< prio, for port_config; higher is better
    bool sticky = false;          ///< for port_config
    std::uint32_t losses = 0;     ///< of the link, since the device exists: a change is a loss
    bool operator==(const Link&) const = default;
};

/// The key of a port without lacp_key: ports of different speeds do not aggregate.
std::uint16_t key_by_speed(std::uint32_t speed);

struct Port {
    explicit Port(MuxControl control) : mux(control) {}

    /// True: has heard its partner, and not for the last time too long ago.
    bool is_current() const { return receive.state() == ReceiveState::current; }
    /// Ports that are to be one aggregate have all of these in common (6.4.10.2, LAG ID).
    struct LagId {
        std::uint16_t own_key = 0;
        SystemId partner{};
        std::uint16_t partner_key = 0;
        std::uint16_t individual = 0; ///< the number of a port that cannot be aggregated
        auto operator<=>(const LagId&) const = default;
    };
    LagId lag() const;
    bool is_individual() const {
        return !variables.actor.is(StateBit::aggregation) || !variables.partner.is(StateBit::aggregation);
    }
    /// The port's rank for both systems: that with the lower identifier decides (teamd: lacp_prio).
    std::pair<SystemId, PortId> rank() const;

    Link link{};
    PortVariables variables{};
    ReceiveMachine receive{};
    PeriodicMachine periodic{};
    MuxMachine mux;
    ChurnMachine actor_churn{}, partner_churn{};
    TransmitMachine transmit{};
    FrameCounters counters{};
    std::optional<Clock::time_point> last_received{}, last_sent{}, last_looped{};
    bool answered = false; ///< a partner has sent a LACPDU since the link came up
    /// A new partner has that long for its selection, before another aggregator is preferred.
    Clock::time_point forgiven_until{};
    std::vector<Marker> responses{}; ///< to be sent
    Clock::time_point window{};      ///< the second in which `in_window` frames arrived
    int in_window = 0;
};

/// The difference between this port and a carrying one of the chosen aggregator.
NotSelected difference(const Port& port, const Port& chosen);

/// A sentence for a user, without the port's name. `chosen`: a port of the team's aggregator, if any.
std::string sentence_for(NotSelected why, const Port& port, const Port* chosen);
/// The same where no port is known. `answered`: the port has had a partner.
std::string sentence_for(NotSelected why, bool answered);

/// The name of the receive state in teamd's state document.
const char* teamd_name_of(ReceiveState state);

} // namespace teamo::lacp
