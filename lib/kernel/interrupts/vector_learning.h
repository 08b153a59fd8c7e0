// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Infers the queue of each vector from counters, for cards whose drivers report it in no other way: the
// vector whose count rises while only one queue receives packets. Samples from time to time until each queue
// has a vector. Pure: the caller reads the counters.
#pragma once

#include "base/result.h"
#include "kernel/interrupts/vector_groups.h"
#include "model/interrupts.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace teamo {

class QueueVectorLearner {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Call after each read of the port. Forgets everything if the vectors or queues have changed.
    void apply(PortInterrupts& port);
    /// True if the caller should read counters now.
    bool wants_sample(const PortInterrupts& port, Time now) const;
    /// Takes the counters. ENOTSUP, EOPNOTSUPP: never asks again. True: the port's vectors are grouped by
    /// queue now.
    bool learn(PortInterrupts& port, Result<InterruptSample> sample, Time now);

private:
    /// The vectors (IRQ number, handler) and queues that the observations are about.
    struct Subject {
        std::vector<std::pair<unsigned, std::string>> vectors;
        unsigned queues = 0;
        bool operator==(const Subject&) const = default;
    };
    struct VectorObservation {
        unsigned queue = 0, times = 0;
    };
    static Subject subject_of(const PortInterrupts& port);
    bool note(const std::map<unsigned, unsigned>& seen);

    Subject subject_;
    std::map<unsigned, VectorObservation> observations_; ///< by IRQ number
    std::optional<InterruptSample> begun_;               ///< the first sample of the window
    Time begun_at_{}, next_{};
    std::chrono::seconds pause_{0}; ///< to the next window
    bool uncounted_ = false;        ///< the driver has no counters by queue
};

} // namespace teamo
