// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "plan/workers/worker_meter.h"
#include "plan/workers/worker_plan.h"
#include "workers/socket_traffic.h"

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Measures in each window which CPU and port a worker's packets arrive by.
class WorkerSampler {
public:
    /// Which processes are workers.
    struct Selection {
        std::span<const WorkerRule> rules;
        const std::map<std::string, uid_t>& users; ///< named by rules
        const BoundWorkers& known;                 ///< what is bound, and what was named by hand
    };
    struct ObservedWorker {
        ActiveWorker active;
        std::string rule{};
        bool by_unit = false;
    };

    WorkerSampler() : source_(SocketSource::open()) {}

    /// What cannot be measured, and why, for the user; empty: everything can.
    std::string limitations() const;

    /// Starts to count UDP packets if a worker has a UDP socket; returns the length of the sample. None: no
    /// worker has one, or it failed (limitations()), for this window if is_passing().
    std::optional<std::chrono::milliseconds> start_sample();

    /// Discards all counts: the next window is the first one.
    void reset();

    /// Ends a window and returns its workers with their traffic. The first window has no traffic yet.
    Result<std::vector<ObservedWorker>> observe(const Selection& selection, const PortTraces& ports,
                                                Clock::time_point now);
    /// Length of the last window.
    double seconds() const { return seconds_; }

private:
    struct Known {
        ObservedWorker seen; ///< without a rule: no worker; read again only every few seconds
        std::uint64_t ticks = 0;
        Clock::time_point at;
    };
    struct Sample {
        std::vector<SocketTraffic> rows;
        double seconds = 1;
    };
    Sample end_sample();
    ObservedWorker* observe(pid_t pid, const Selection& selection, Clock::time_point now);

    SocketSource source_;
    std::optional<UdpSampler> sampler_;
    std::optional<Error> sampler_failure_; ///< a passing one is tried again in the next window
    bool udp_ = false;                     ///< a worker has a UDP socket
    std::optional<Clock::time_point> sampling_since_, window_end_;
    double seconds_ = 1;
    WorkerMeter meter_;
    std::map<pid_t, Known> known_;
};

} // namespace teamo
