// SPDX-License-Identifier: LGPL-2.1-or-later
#include "proof_trial.h"

namespace teamo {
namespace {

/// As long as a client is believed to be there after its last word: two rounds, and a busy machine.
constexpr std::chrono::seconds longest_silence{15};

} // namespace

Result<std::unique_ptr<ProofTrial>> ProofTrial::make(sd_event* loop, const Log& log, Steps steps) {
    std::unique_ptr<ProofTrial> trial(new ProofTrial(log, std::move(steps)));
    auto limit = Timer::make(loop, [self = trial.get()] {
        for (const auto& entry : self->steps_)
            if (self->before_.contains(entry.first)) {
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

Result<> ProofTrial::ask(std::string_view step, std::string_view state) {
    const auto found = steps_.find(step);
    if (found == steps_.end()) return fail(EINVAL, "what can be tried are interrupts and workers");
    if (state != "on" && state != "off" && state != "end") return fail(EINVAL, "a trial is on, off or end");
    if (state == "end") {
        end(step);
        return {};
    }
    before_.try_emplace(found->first, found->second.managed());
    limit_->after(longest_silence);
    found->second.manage(state == "on");
    return {};
}

void ProofTrial::end(std::string_view step) {
    if (const auto tried = before_.find(step); tried != before_.end()) settle(step, tried->second);
}

void ProofTrial::settle(std::string_view step, bool managed) {
    if (const auto tried = before_.find(step); tried != before_.end()) before_.erase(tried);
    if (before_.empty()) limit_->stop();
    steps_.find(step)->second.manage(managed);
}

} // namespace teamo
