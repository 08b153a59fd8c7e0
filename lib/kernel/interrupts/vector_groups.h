// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which vectors serve a queue together. Pure: the caller reads the counters.
#pragma once

#include "base/result.h"
#include "kernel/netlink/netdev_queues.h"
#include "model/interrupts.h"

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Puts the vectors into `port`, whose queue counts must be set (0: unknown). `device_names`: names that the
/// driver may have put into the handlers' names.
void group_vectors(PortInterrupts& port, std::vector<IrqVector> vectors, const NetdevQueues& netdev_queues,
                   std::span<const std::string> device_names);

/// Counters read at one time.
struct InterruptSample {
    std::map<unsigned, std::uint64_t> vectors{}; ///< interrupts so far, by IRQ number
    std::vector<std::uint64_t> packets{};        ///< by receive queue
    std::uint64_t sent = 0;                      ///< packets transmitted on all queues
};

/// The queue of a vector, by IRQ number, if two samples show it: between them only one queue received
/// packets, and one vector fired far more often than all others. No conclusion when several queues are
/// active, or when we transmit more than half as many packets: the interrupt may be a TX completion, and the
/// received packets its ACKs.
std::map<unsigned, unsigned> infer_queues(const InterruptSample& before, const InterruptSample& after);

/// True if the vectors are ungrouped (VectorSource::ungrouped), there is at least one for each of several
/// receive queues, and no single thread polls all queues.
bool can_be_split(const PortInterrupts& port);

/// Splits the group if each receive queue has a known vector; the other vectors go to `others`. True if it
/// did.
bool split_by_queue(PortInterrupts& port, const std::map<unsigned, unsigned>& learned);

/// Infers the queue of each vector from counters, for cards whose drivers report it in no other way. Samples
/// from time to time until each queue has a vector.
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
