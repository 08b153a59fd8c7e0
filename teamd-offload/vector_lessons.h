// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where nothing tells a card's vectors apart, their counts may: whose count rises while one queue alone takes
// in packets. Looked at for a moment every few seconds, until each queue has its vector.
#pragma once

#include "kernel/vector_groups.h"
#include "model/interrupts.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace teamo {

class VectorLessons {
public:
    using Clock = std::chrono::steady_clock;

    /// The port was read anew: what is known of its vectors is true of the same vectors only.
    void apply(PortInterrupts& port);
    /// Its counts were. True: its queues are told apart now. `device`: its name.
    bool learn(PortInterrupts& port, const std::string& device, Clock::time_point now);

private:
    std::map<unsigned, unsigned> learned_; ///< the queue, by number of the vector
    std::optional<InterruptSample> begun_; ///< the window's beginning
    Clock::time_point next_{};             ///< no window begins before
    bool uncounted_ = false;               ///< the driver does not count by queue
};

} // namespace teamo
