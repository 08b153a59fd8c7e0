// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What this daemon places, left off and on for a measurement (teamoctl interrupts benchmark). Whoever
// measures may die at any moment, so a trial ends by itself. A daemon that is started anew manages as it is
// configured.
#pragma once

#include "cpus/workers.h"
#include "log.h"
#include "loop.h"
#include "model/benchmark.h"

#include <map>
#include <memory>
#include <string>

namespace teamo {

class BenchmarkPause {
public:
    static Result<std::unique_ptr<BenchmarkPause>> make(sd_event* loop, const Log& log,
                                                        Interrupts& interrupts, Workers& workers);

    /// "on", "off": begins a trial of a step, or goes on with it; fifteen seconds after the last word all are
    /// as before. "end": that step is. EINVAL: no such step, or another word. ECANCELED: an administrator has
    /// had a say in it meanwhile.
    Result<> request(BenchmarkStep step, TrialState state);
    /// An administrator's word: it ends a trial, and holds.
    void settle(BenchmarkStep step, bool managed);

    /// What a client has measured, for the state document.
    void keep(BenchmarkStep step, const BenchmarkResult& result) { results_[name_of(step)] = result; }
    const std::map<std::string, BenchmarkResult>& results() const { return results_; }

private:
    /// Something that can be left off.
    struct Step {
        std::function<bool()> managed;
        std::function<void(bool)> manage;
    };
    using Steps = std::map<BenchmarkStep, Step>;

    BenchmarkPause(const Log& log, Steps steps) : log_(log), steps_(std::move(steps)) {}
    void end(BenchmarkStep step);

    const Log& log_;
    Steps steps_;
    struct Tried {
        bool before = false;  ///< whether it was managed
        bool settled = false; ///< an administrator has said how it shall be
    };
    std::map<BenchmarkStep, Tried> tried_;
    std::map<std::string, BenchmarkResult> results_;
    std::optional<Timer> limit_;
};

} // namespace teamo
