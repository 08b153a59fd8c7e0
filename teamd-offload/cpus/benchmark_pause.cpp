// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/benchmark_pause.h"

namespace teamo {
namespace {

/// As long as a client is believed to be there after its last word: two rounds, and a busy machine.
constexpr std::chrono::seconds max_benchmark_silence{15};

} // namespace

Result<std::unique_ptr<BenchmarkPause>> BenchmarkPause::make(sd_event* loop, const Log& log,
                                                             Interrupts& interrupts, Workers& workers) {
    const auto step_of = [](auto& what) {
        return Step{.managed = [&what] { return what.managed(); },
                    .manage = [&what](bool on) { what.manage(on); }};
    };
    std::unique_ptr<BenchmarkPause> trial(new BenchmarkPause(
        log, {{BenchmarkStep::interrupts, step_of(interrupts)}, {BenchmarkStep::workers, step_of(workers)}}));
    auto limit = Timer::make(loop, [self = trial.get()] {
        for (const auto& entry : self->steps_) {
            const auto tried = self->tried_.find(entry.first);
            if (tried == self->tried_.end()) continue;
            if (!tried->second.settled)
                self->log_(
                    Level::notice,
                    fmt::format("{}: the measurement has ended without a word; they are managed as before",
                                name_of(entry.first)));
            self->end(entry.first);
        }
    });
    if (!limit) return tl::unexpected(limit.error());
    trial->limit_.emplace(std::move(*limit));
    return trial;
}

Result<> BenchmarkPause::request(BenchmarkStep step, TrialState state) {
    if (state == TrialState::end) {
        end(step);
        return {};
    }
    auto& one = steps_.at(step);
    const auto tried = tried_.try_emplace(step, Tried{.before = one.managed()}).first;
    if (tried->second.settled)
        return fail(ECANCELED, fmt::format("the administrator has switched {} meanwhile", name_of(step)));
    limit_->after(max_benchmark_silence);
    one.manage(state == TrialState::on);
    return {};
}

void BenchmarkPause::end(BenchmarkStep step) {
    const auto tried = tried_.find(step);
    if (tried == tried_.end()) return;
    const auto [before, settled] = tried->second;
    tried_.erase(tried);
    if (tried_.empty()) limit_->stop();
    if (!settled) steps_.at(step).manage(before);
}

void BenchmarkPause::settle(BenchmarkStep step, bool managed) {
    if (const auto tried = tried_.find(step); tried != tried_.end()) tried->second.settled = true;
    steps_.at(step).manage(managed);
}

} // namespace teamo
