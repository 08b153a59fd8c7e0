// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What binding workers, and proving what it buys, needs to know of a team.
#include "team/team.h"

namespace teamo {

Result<> Team::start_workers(sd_event* loop) {
    auto workers = Workers::make(loop, log_, configuration_.team.workers,
                                 {.arrivals = [this] { return interrupts_->arrivals(); },
                                  .bound = [this]() -> BoundWorkers& { return journal_.workers; },
                                  .keep = [this] { return keep_journal(); }});
    if (!workers) return tl::unexpected(workers.error());
    workers_ = std::move(*workers);
    return {};
}

Result<> Team::start_benchmark_pause(sd_event* loop) {
    auto trial = BenchmarkPause::make(loop, log_,
                                      {{"interrupts",
                                        {.managed = [this] { return interrupts_->managed(); },
                                         .manage = [this](bool on) { interrupts_->manage(on); }}},
                                       {"workers",
                                        {.managed = [this] { return workers_->managed(); },
                                         .manage = [this](bool on) { workers_->manage(on); }}}});
    if (!trial) return tl::unexpected(trial.error());
    benchmark_pause_ = std::move(*trial);
    return {};
}

/// Whom a daemon that was killed has left bound.
void Team::release_left_workers() {
    if (journal_.workers.empty()) return;
    log_(Level::notice, fmt::format("released {} processes that an earlier daemon had bound",
                                    journal_.workers.processes.size() + journal_.workers.units.size()));
    release_workers(journal_.workers, log_);
    if (auto kept = keep_journal(); !kept) log_(Level::warning, kept.error().text);
}

} // namespace teamo
