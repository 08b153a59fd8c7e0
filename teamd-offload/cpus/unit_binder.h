// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Units of one process are bound by their AllowedCPUs=, so that systemd, and whoever asks it, knows where
// they run. A unit of several would have all of them where only one belongs.
#pragma once

#include "base/clock.h"
#include "loop.h"
#include "model/workers.h"
#include "workers/unit_cpus.h"

#include <functional>
#include <optional>
#include <string>

namespace teamo {

class UnitBinder {
public:
    UnitBinder();
    /// `open`: how systemd is reached; `is_alone`: whether a worker is all that its unit has.
    UnitBinder(std::function<Result<UnitCpus>()> open, std::function<bool(const Worker&)> is_alone)
        : open_(std::move(open)), is_alone_(std::move(is_alone)) {}

    /// Whether the unit is bound there now, or will be in a moment. False: the worker is to be bound thread
    /// by thread, and nothing of the unit is bound. `bound`: what is noted of units; `keep` keeps the note.
    bool bind(const Worker& worker, const CpuList& cpus, BoundWorkers& bound,
              const std::function<Result<>()>& keep);
    /// Whoever has it bound by us has it no longer. The note stays where systemd did not answer; EAGAIN: it
    /// is not asked again before a minute has gone by.
    Result<> release(const std::string& unit, BoundWorkers& bound);

private:
    UnitCpus* bus();
    void leave_in_peace();

    std::function<Result<UnitCpus>()> open_;
    std::function<bool(const Worker&)> is_alone_;
    std::optional<UnitCpus> bus_;
    Clock::time_point ask_again_{};
};

} // namespace teamo
