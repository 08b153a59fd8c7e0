// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/benchmark_pause.h"

namespace teamo {
namespace {

/// A pause ends if its client sends no request for so long: two rounds, on a busy machine.
constexpr std::chrono::seconds max_benchmark_silence{15};

} // namespace

Result<std::unique_ptr<BenchmarkPause>> BenchmarkPause::make(sd_event* loop, const Log& log,
                                                             Interrupts& interrupts, Workers& workers) {
    const auto step_of = [](auto& what) {
        return Step{.managed = [&what] { return what.managed(); },
                    .manage = [&what](bool on) { what.manage(on); }};
    };
    std::unique_ptr<BenchmarkPause> pause(new BenchmarkPause(
        log, {{BenchmarkStep::interrupts, step_of(interrupts)}, {BenchmarkStep::workers, step_of(workers)}}));
    auto limit = Timer::make(loop, [self = pause.get()] {
        for (const auto& entry : self->steps_) {
            const auto paused = self->paused_.find(entry.first);
            if (paused == self->paused_.end()) continue;
            if (!paused->second.overridden)
                self->log_(Level::notice,
                           fmt::format("{}: no request from the benchmark for {} s; managed as before",
                                       name_of(entry.first), max_benchmark_silence.count()));
            self->end(entry.first);
        }
    });
    if (!limit) return tl::unexpected(limit.error());
    pause->limit_.emplace(std::move(*limit));
    return pause;
}

Result<> BenchmarkPause::request(BenchmarkStep step, TrialState state) {
    if (state == TrialState::end) {
        end(step);
        return {};
    }
    auto& one = steps_.at(step);
    const auto paused = paused_.try_emplace(step, Paused{.before = one.managed()}).first;
    if (paused->second.overridden)
        return fail(ECANCELED,
                    fmt::format("the administrator has switched {} during the benchmark", name_of(step)));
    limit_->after(max_benchmark_silence);
    one.manage(state == TrialState::on);
    return {};
}

void BenchmarkPause::end(BenchmarkStep step) {
    const auto paused = paused_.find(step);
    if (paused == paused_.end()) return;
    const auto [before, overridden] = paused->second;
    paused_.erase(paused);
    if (paused_.empty()) limit_->stop();
    if (!overridden) steps_.at(step).manage(before);
}

void BenchmarkPause::set_managed(BenchmarkStep step, bool managed) {
    if (const auto paused = paused_.find(step); paused != paused_.end()) paused->second.overridden = true;
    steps_.at(step).manage(managed);
}

} // namespace teamo
