// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pauses the management of interrupts or workers for a measurement (teamoctl interrupts benchmark). The
// client may be killed at any moment, so a pause ends by itself. A new daemon manages as configured.
#pragma once

#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "daemon/cpus/worker_subsystem.h"
#include "model/status.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace teamo {

class BenchmarkPause {
public:
    static Result<std::unique_ptr<BenchmarkPause>> make(sd_event* loop, const Log& log,
                                                        Interrupts& interrupts, Workers& workers);

    /// on, off: begins or continues a pause of this step, and sets whether it is managed; 15 s after the last
    /// request, for whichever step, all steps are managed as before. end: at once. ECANCELED: the
    /// administrator has changed it meanwhile (set_managed()).
    Result<> request(BenchmarkStep step, TrialState state);
    /// Requested by the administrator: stays when the pause ends.
    void set_managed(BenchmarkStep step, bool managed);

    /// The client's results, for the state document.
    void keep(BenchmarkStep step, const BenchmarkResult& result) { results_[name_of(step)] = result; }
    const std::map<std::string, BenchmarkResult>& results() const { return results_; }

private:
    /// A pause ends if its client sends no request for so long: two rounds, on a busy machine.
    static constexpr std::chrono::seconds max_silence{15};

    /// What can be paused.
    struct Step {
        std::function<bool()> managed;
        std::function<void(bool)> manage;
        std::optional<bool> before{}; ///< whether it was managed when its pause began; none: no pause
        bool overridden = false;      ///< the administrator has changed it since; not set back
    };

    BenchmarkPause(const Log& log, std::map<BenchmarkStep, Step> steps)
        : log_(log), steps_(std::move(steps)) {}
    static void end(Step& step);
    void end_silent();

    const Log& log_;
    std::map<BenchmarkStep, Step> steps_;
    std::map<std::string, BenchmarkResult> results_;
    std::optional<Timer> limit_;
};

} // namespace teamo
