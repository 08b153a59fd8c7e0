// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where nothing tells a card's vectors apart, their counts may: whose count rises while one queue alone takes
// in packets. Looked at now and then, until each queue has its vector. A value: what was counted in, what to
// count out.
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

    /// The port was read anew: what was learned is true as long as it has the same vectors and queues.
    void apply(PortInterrupts& port);
    /// Whether counts are to be read now.
    bool wants_sample(const PortInterrupts& port, Time now) const;
    /// They were. ENOTSUP, EOPNOTSUPP: never again. True: the port's queues are told apart now.
    bool learn(PortInterrupts& port, Result<InterruptSample> sample, Time now);

private:
    /// What was learned is of these: numbers and handlers.
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
    std::map<unsigned, VectorObservation> observations_; ///< by number of the vector
    std::optional<InterruptSample> begun_;               ///< the window's beginning
    Time begun_at_{}, next_{};
    std::chrono::seconds pause_{0}; ///< to the next window
    bool uncounted_ = false;        ///< the driver does not count by queue
};

} // namespace teamo
