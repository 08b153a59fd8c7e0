// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is seen of the workers: whose packets come by which CPU and port, window after window.
#pragma once

#include "base/clock.h"
#include "loop.h"
#include "plan/workers/worker_meter.h"
#include "plan/workers/worker_plan.h"
#include "workers/processes.h"
#include "workers/socket_source.h"
#include "workers/udp_sampler.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

class WorkerSampler {
public:
    /// Who is a worker.
    struct Selection {
        std::span<const WorkerRule> rules;
        const std::map<std::string, uid_t>& users;        ///< that rules name
        const std::map<ProcessId, WorkerPolicy>& by_hand; ///< whatever the rules say
    };
    struct ObservedWorker {
        ActiveWorker active;
        std::string rule;
        bool by_unit = false;
    };

    WorkerSampler() : source_(SocketSource::open()) {}

    /// What it cannot see, and why, for people; empty: nothing.
    std::string limitations() const;

    /// Begins to count UDP packets, if there is a worker with such a socket; for how long. None: there is
    /// none, or it cannot be done.
    std::optional<std::chrono::milliseconds> start_sample();

    /// What was counted until now says nothing of the window to come.
    void forget();

    /// The window that ends now, with the traffic of all of it. The first one knows of none yet.
    Result<std::vector<ObservedWorker>> observe(const Selection& selection, const PortTraces& ports,
                                                Clock::time_point now);
    /// Length of the window that was looked at last.
    double seconds() const { return seconds_; }

private:
    struct Known {
        ProcessReading reading;
        std::string rule; ///< empty: none of ours, looked at again only now and then
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
    std::string sampler_complaint_;
    bool sampling_ = false, udp_ = false;
    Clock::time_point sampling_since_{};
    std::optional<Clock::time_point> looked_at_;
    double seconds_ = 1;
    WorkerMeter meter_;
    std::map<pid_t, Known> known_;
};

} // namespace teamo
