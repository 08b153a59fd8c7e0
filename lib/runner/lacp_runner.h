// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lacp/system.h"
#include "runner/candidate.h"

#include <span>

namespace teamo {

/// The ports of the chosen aggregator carry as their mux machines say.
class Lacp {
public:
    explicit Lacp(lacp::System system) : system_(std::move(system)) {}

    Decision step(std::span<const Candidate> ports, Clock::time_point now);

    /// Frames go in and out here.
    lacp::System& system() { return system_; }

private:
    lacp::System system_;
};

} // namespace teamo
