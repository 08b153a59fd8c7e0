// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of the workers, for the state document and teamoctl.
#pragma once

#include "model/workers.h"

namespace teamo {

/// A process that matches a rule or that the administrator named.
struct WorkerStatus {
    Worker worker{};
    std::string rule{}; ///< that matched: "unit nginx.service"; or "by hand"
    WorkerPolicy policy = WorkerPolicy::follow;
    ProcessTraffic traffic{}; ///< of the last second
    double work = 0;          ///< CPU time that it used, in CPUs
    CpuList cpus{};           ///< to which it is bound; empty: not bound
    std::string reason{};     ///< why it is bound there, or not bound
    bool operator==(const WorkerStatus&) const = default;
};

struct WorkersStatus {
    bool managed = true;       ///< false: released by the administrator, until "apply"
    std::string refused{};     ///< why no worker can be bound; empty: they can
    std::string limitations{}; ///< traffic that cannot be measured, and why; empty: none
    std::string complaint{};   ///< the error of the last pass; empty: none
    std::vector<WorkerRule> rules{};
    std::vector<WorkerStatus> workers{}; ///< by process
    bool operator==(const WorkersStatus&) const = default;
};

/// "unit worker@*.service"
inline std::string text_of(const WorkerRule& rule) {
    return std::string(worker_selector_names[static_cast<std::size_t>(rule.selector)]) + " " + rule.name;
}

} // namespace teamo
