// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "team/context.h"
#include "team/ports/port_set.h"
#include "team/reconciler.h"
#include "team/subsystems.h"
#include "team/upper_devices.h"

namespace teamo {

/// The parts of one team. Each owns its state. They are not movable, since they refer to one another.
struct TeamParts {
    explicit TeamParts(TeamContext with) : context(std::move(with)) {}
    TeamParts(const TeamParts&) = delete;
    TeamParts& operator=(const TeamParts&) = delete;

    TeamContext context;
    Subsystems subsystems{};
    PortSet ports{context, subsystems};
    UpperDevices uppers{context};
    Reconciler reconciler{context, subsystems, ports, uppers};
};

} // namespace teamo
