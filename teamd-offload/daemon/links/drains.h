// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ports that are drained: reads their counters and queues, steps the Drain of each, and asks for a pass
// when one has another phase. What a phase means for packets is decided in that pass (lib/runner).
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "runner/port_drain.h"

#include <map>
#include <memory>

namespace teamo {

class Drains {
public:
    struct Port {
        IfIndex index;
        Slot slot;
        std::string name;
        DrainPhase phase = DrainPhase::moving;
        Drain::View view{}; ///< without what is read here
    };

    static Result<std::unique_ptr<Drains>> make(TeamContext& context);

    /// The ports that are drained since the last pass.
    void follow(std::vector<Port> ports);
    /// The port is not drained any more, or begins anew.
    void forget(IfIndex port) { drains_.erase(port); }

    /// None: it is not drained, or has just begun.
    std::optional<DrainPhase> phase(IfIndex port) const;
    /// Frames in the last second.
    std::uint64_t received(IfIndex port) const;

private:
    explicit Drains(TeamContext& context) : context_(context) {}
    void step();
    void log_change(const Port& port, DrainPhase before, DrainPhase now) const;

    TeamContext& context_;
    std::optional<Timer> timer_;
    std::vector<Port> ports_;
    std::map<IfIndex, Drain> drains_;
};

} // namespace teamo
