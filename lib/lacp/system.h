// SPDX-License-Identifier: LGPL-2.1-or-later
//
// All ports of a team (the standard's System): which of them form its aggregate, and what they send. A value:
// links, frames and the time in; carrying ports and frames out.
//
// The ports of several aggregators may have partners, but a team has one device: one aggregator is chosen,
// and the ports of the others stay unselected.
#pragma once

#include "lacp/port.h"
#include "model/config.h"

#include <map>
#include <span>
#include <vector>

namespace teamo::lacp {

struct Settings {
    SystemId system{};
    bool active = true, fast_rate = false;
    AggSelectPolicy policy = AggSelectPolicy::lacp_prio;
    LacpFallback fallback = LacpFallback::none;
    MuxControl control = MuxControl::coupled;
    bool operator==(const Settings&) const = default;
};

struct Carrying {
    std::vector<IfIndex> distributing, collecting;
    bool falls_back = false; ///< these ports have no partner
    bool operator==(const Carrying&) const = default;
};

struct Outgoing {
    IfIndex port;
    std::variant<Lacpdu, Marker> frame;
    bool is_last = false; ///< of a port that leaves or has lost its link: it need not succeed
};

class System {
public:
    explicit System(Settings settings) : settings_(settings) {}

    /// Before the first update(): what an earlier daemon knew of a port.
    void restore(IfIndex port, const PortMemory& memory) { memories_.insert_or_assign(port, memory); }

    /// From the next update() on. The control stays as it was.
    void change(const Settings& settings) { settings_ = settings; }

    /// The ports as they are now, then step(). A port that is missing has left: due() has its last LACPDU.
    void update(std::span<const Link> links, Clock::time_point now);
    /// A frame of the slow protocols that has arrived. True: call step(), because it may change something.
    bool receive(IfIndex port, std::span<const std::byte> frame, Clock::time_point now);
    /// Call it after receive() and at deadline(). True: what is carried, or a memory(), has changed.
    bool step(Clock::time_point now);

    /// What to send now. Each must be followed by note_result().
    std::vector<Outgoing> due(Clock::time_point now);
    void note_result(const Outgoing& frame, bool sent, Clock::time_point now);
    std::optional<Clock::time_point> deadline(Clock::time_point now) const;

    const Carrying& carrying() const { return carrying_; }
    const Settings& settings() const { return settings_; }
    /// Uses the aggregator of this port until it is gone, whatever the policy says. False: it has none.
    bool choose(IfIndex port);

    bool has(IfIndex port) const { return find(port) != nullptr; }
    /// Whether the port's partner says that it distributes.
    bool partner_sends(IfIndex port) const;
    PortStatus status(IfIndex port, Clock::time_point now) const;
    PortMemory memory(IfIndex port) const;
    /// Of one port, or of all.
    void clear_counters(std::optional<IfIndex> port);

private:
    Port* find(IfIndex port);
    const Port* find(IfIndex port) const;
    const Port* lead() const;
    Port join(const Link& link, Clock::time_point now);
    void set_link(Port& port, const Link& link, Clock::time_point now);
    void say_farewell(const Port& port);
    bool take(Port& port, const Lacpdu& pdu, Clock::time_point now);
    std::vector<PortMemory> memories() const;
    void select(Clock::time_point now);
    void set_ready(Clock::time_point now);
    void step_mux(Clock::time_point now);
    void choose_fallback();
    void note_carrying();
    NotSelected why_not(const Port& port) const;

    Settings settings_;
    std::vector<Port> ports_;                ///< in the order they joined
    std::map<IfIndex, PortMemory> memories_; ///< until the first update()
    std::vector<Outgoing> farewells_;
    std::optional<Port::LagId> chosen_by_hand_;
    std::optional<IfIndex> lead_; ///< the best port of the chosen aggregator
    std::vector<IfIndex> fallback_;
    Carrying carrying_{};
};

} // namespace teamo::lacp
