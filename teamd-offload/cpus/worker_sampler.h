// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures in each window which CPU and port a worker's packets arrive by.
#pragma once

#include "base/clock.h"
#include "loop.h"
#include "plan/workers/worker_meter.h"
#include "plan/workers/worker_plan.h"
#include "workers/processes.h"
#include "workers/socket_traffic.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

class WorkerSampler {
public:
    /// Which processes are workers.
    struct Selection {
        std::span<const WorkerRule> rules;
        const std::map<std::string, uid_t>& users;        ///< named by rules
        const std::map<ProcessId, WorkerPolicy>& by_hand; ///< takes precedence over the rules
    };
    struct ObservedWorker {
        ActiveWorker active;
        std::string rule;
        bool by_unit = false;
    };

    WorkerSampler() : source_(SocketSource::open()) {}

    /// What cannot be measured, and why, for the user; empty: everything can.
    std::string limitations() const;

    /// Starts to count UDP packets if a worker has a UDP socket; returns the length of the sample. None: no
    /// worker has one, or it failed (limitations()).
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
        ProcessReading reading;
        std::string rule; ///< empty: no worker; read again only every few seconds
        WorkerPolicy policy = WorkerPolicy::off;
        bool by_unit = false;
        Clock::time_point at;
    };
    struct Sample {
        std::vector<SocketTraffic> rows;
        double seconds = 1;
    };
    Sample end_sample();
    void choose(Known& known, const Selection& selection) const;
    std::optional<double> observe(pid_t pid, const Selection& selection, Clock::time_point now);

    SocketSource source_;
    std::optional<UdpSampler> sampler_;
    std::string sampler_failure_;
    bool sampling_ = false, udp_ = false;
    Clock::time_point sampling_since_{};
    std::optional<Clock::time_point> window_end_;
    double seconds_ = 1;
    WorkerMeter meter_;
    std::map<pid_t, Known> known_;
};

} // namespace teamo
