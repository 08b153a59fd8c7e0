// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/benchmark_pause.h"

namespace teamo {
namespace {

/// As long as a client is believed to be there after its last word: two rounds, and a busy machine.
constexpr std::chrono::seconds max_benchmark_silence{15};

} // namespace

Result<std::unique_ptr<BenchmarkPause>> BenchmarkPause::make(sd_event* loop, const Log& log, Steps steps) {
    std::unique_ptr<BenchmarkPause> trial(new BenchmarkPause(log, std::move(steps)));
    auto limit = Timer::make(loop, [self = trial.get()] {
        for (const auto& entry : self->steps_) {
            const auto tried = self->tried_.find(entry.first);
            if (tried == self->tried_.end()) continue;
            if (!tried->second.settled)
                self->log_(
                    Level::notice,
                    fmt::format("{}: nobody measures any more, they are managed as before", entry.first));
            self->end(entry.first);
        }
    });
    if (!limit) return tl::unexpected(limit.error());
    trial->limit_.emplace(std::move(*limit));
    return trial;
}

Result<> BenchmarkPause::ask(std::string_view step, std::string_view state) {
    const auto found = steps_.find(step);
    if (found == steps_.end()) return fail(EINVAL, "what can be tried are interrupts and workers");
    if (state != "on" && state != "off" && state != "end") return fail(EINVAL, "a trial is on, off or end");
    if (state == "end") {
        end(found->first);
        return {};
    }
    const auto tried = tried_.try_emplace(found->first, Tried{.before = found->second.managed()}).first;
    if (tried->second.settled)
        return fail(ECANCELED, fmt::format("somebody has told the {} what to do meanwhile", found->first));
    limit_->after(max_benchmark_silence);
    found->second.manage(state == "on");
    return {};
}

void BenchmarkPause::end(const std::string& step) {
    const auto tried = tried_.find(step);
    if (tried == tried_.end()) return;
    const auto [before, settled] = tried->second;
    tried_.erase(tried);
    if (tried_.empty()) limit_->stop();
    if (!settled) steps_.at(step).manage(before);
}

void BenchmarkPause::settle(std::string_view step, bool managed) {
    if (const auto tried = tried_.find(step); tried != tried_.end()) tried->second.settled = true;
    steps_.find(step)->second.manage(managed);
}

} // namespace teamo
