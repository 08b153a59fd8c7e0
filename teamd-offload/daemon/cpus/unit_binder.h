// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "model/workers.h"
#include "workers/unit_cpus.h"

#include <functional>
#include <optional>
#include <string>

namespace teamo {

/// Binds a unit of one process by AllowedCPUs=, so that systemd shows where it runs. AllowedCPUs= applies to
/// all processes of a unit, so units with several are not bound this way, and no unit by a kernel that then
/// changes the affinities of threads.
class UnitBinder {
public:
    UnitBinder();
    /// `open`: connects to systemd; `is_alone`: whether a worker is the only process of its unit, and the
    /// kernel keeps the affinities of its threads.
    UnitBinder(std::function<Result<UnitCpus>()> open, std::function<bool(const Worker&)> is_alone)
        : open_(std::move(open)), is_alone_(std::move(is_alone)) {}

    /// True: the unit is bound, or will be in a moment. False: it is not; bind the worker's threads instead.
    /// EAGAIN: it was released, but systemd widens its cpuset later: bind the threads in the next window.
    /// `bound`: the entries in the journal; `keep` writes it.
    Result<bool> bind(const Worker& worker, const CpuList& cpus, BoundWorkers& bound,
                      const std::function<Result<>()>& keep);
    /// Removes our AllowedCPUs= from the unit. The entry stays if systemd did not answer; EAGAIN: it is not
    /// asked again within a minute.
    Result<> release(const std::string& unit, BoundWorkers& bound);

private:
    UnitCpus* bus();
    void back_off();

    std::function<Result<UnitCpus>()> open_;
    std::function<bool(const Worker&)> is_alone_;
    std::optional<UnitCpus> bus_;
    Clock::time_point retry_at_{};
};

} // namespace teamo
