// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Units of one process are bound by their AllowedCPUs=, so that systemd, and whoever asks it, knows where
// they run. A unit of several would have all of them where only one belongs.
#pragma once

#include "loop.h"
#include "model/workers.h"
#include "watch/port_watch.h"
#include "workers/unit_cpus.h"

#include <optional>
#include <string>

namespace teamo {

class UnitBinder {
public:
    /// Whether the unit is bound there now, or will be in a moment. `bound`: what is noted of units; what is
    /// new there must be kept. False: it is to be bound thread by thread.
    bool bind(const Worker& worker, const CpuList& cpus, BoundWorkers& bound, Clock::time_point now);
    /// Whoever has it bound by us has it no longer.
    void release(const std::string& unit, BoundWorkers& bound);

private:
    UnitCpus* bus(Clock::time_point now);

    std::optional<UnitCpus> bus_;
    Clock::time_point ask_again_{};
};

} // namespace teamo
