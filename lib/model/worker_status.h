// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the workers stand, as a value: what the state document and teamoctl speak of.
#pragma once

#include "model/workers.h"

namespace teamo {

/// A process that a rule fits, or that somebody named by hand.
struct WorkerStatus {
    Worker worker{};
    std::string rule{}; ///< by which it was chosen: "unit nginx.service", "by hand"
    WorkerPolicy policy = WorkerPolicy::follow;
    ProcessTraffic traffic{}; ///< of the last second
    double work = 0;          ///< CPU time it used, in CPUs
    CpuList cpus{};           ///< where it is bound; empty: nowhere
    std::string reason{};     ///< why there, or why nowhere
    bool operator==(const WorkerStatus&) const = default;
};

struct WorkersStatus {
    bool managed = true;       ///< false: released by an administrator until told otherwise
    std::string refused{};     ///< why none may be bound at all; empty: they may
    std::string limitations{}; ///< what of the traffic is not seen, and why; empty: all is
    std::string complaint{};   ///< what went wrong last time; empty: nothing
    std::vector<WorkerRule> rules{};
    std::vector<WorkerStatus> workers{}; ///< by process
    bool operator==(const WorkersStatus&) const = default;
};

/// "unit worker@*.service"
inline std::string text_of(const WorkerRule& rule) {
    return std::string(worker_selector_names[static_cast<std::size_t>(rule.selector)]) + " " + rule.name;
}

} // namespace teamo
