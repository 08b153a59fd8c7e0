// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/benchmark_pause.h"

namespace teamo {

Result<std::unique_ptr<BenchmarkPause>> BenchmarkPause::make(sd_event* loop, const Log& log,
                                                             Interrupts& interrupts, Workers& workers) {
    const auto step_of = [](auto& what) {
        return Step{.managed = [&what] { return what.managed(); },
                    .manage = [&what](bool on) { what.manage(on); }};
    };
    std::unique_ptr<BenchmarkPause> pause(new BenchmarkPause(
        log, {{BenchmarkStep::interrupts, step_of(interrupts)}, {BenchmarkStep::workers, step_of(workers)}}));
    pause->limit_ = TEAMO_TRY(Timer::make(loop, [self = pause.get()] { self->end_silent(); }));
    return pause;
}

void BenchmarkPause::end_silent() {
    for (auto& [name, step] : steps_) {
        if (!step.before) continue;
        if (!step.overridden)
            log_(Level::notice, fmt::format("{}: no request from the benchmark for {} s; managed as before",
                                            name_of(name), max_silence.count()));
        end(step);
    }
}

Result<> BenchmarkPause::request(BenchmarkStep name, TrialState state) {
    auto& step = steps_.at(name);
    if (state == TrialState::end) {
        end(step);
        return {};
    }
    if (step.overridden)
        return fail(ECANCELED,
                    fmt::format("the administrator has switched {} during the benchmark", name_of(name)));
    if (!step.before) step.before = step.managed();
    limit_->after(max_silence); // of all: while one step is measured, the others stay paused
    step.manage(state == TrialState::on);
    return {};
}

void BenchmarkPause::end(Step& step) {
    const auto before = std::exchange(step.before, {});
    const bool overridden = std::exchange(step.overridden, false);
    if (before && !overridden) step.manage(*before);
}

void BenchmarkPause::set_managed(BenchmarkStep name, bool managed) {
    auto& step = steps_.at(name);
    step.overridden = step.before.has_value();
    step.manage(managed);
}

} // namespace teamo
