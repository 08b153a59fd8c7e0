// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where workers begin and end: those of an earlier daemon, other rules, a request, the end.
#include "daemon/cpus/worker_subsystem.h"

#include "workers/affinity.h"

#include <algorithm>

namespace teamo {

using namespace std::chrono_literals;

void Workers::start() {
    look_up_users();
    adopt();
    if (is_wanted()) window_->after(0s);
}

/// The first window writes no affinity that is as planned. It releases workers that no rule selects any more,
/// and forgets processes that have ended.
void Workers::adopt() {
    const auto& bound = journal_.workers();
    if (bound.empty()) return;
    const auto count = [&] { return bound.processes.size() + bound.units.size(); };
    const auto found = count();
    if (!is_wanted()) { // there will be no window
        release_workers(journal_.workers(), log_);
        keep();
        return log_(
            Level::notice,
            fmt::format("released {} processes that an earlier daemon had bound: no rule selects them",
                        found - count()));
    }
    for (const auto& process : bound.processes) {
        planner_.adopt(process.id, process.cpus);
        last_bindings_[process.id] = {.cpus = process.cpus}; // its threads are read in the first window
    }
    for (const auto& [unit, binding] : bound.units)
        planner_.adopt(binding.process, binding.cpus);
    log_(Level::notice, fmt::format("adopted {} processes that an earlier daemon had bound", found));
}

void Workers::reconfigure(const std::vector<WorkerRule>& before) {
    look_up_users(); // also of rules that are the same: a directory service may know the user by now
    if (rules() == before) return;
    status_.clear();
    if (!is_wanted()) return release_all();
    // A process may have another rule now, or none: the windows release the workers and bind them anew.
    failed_.clear();
    reset_measurement();
    sample_->stop();
    window_->after(0s);
}

void Workers::look_up_users() {
    lookup_.begin(rules());
    looked_up_at_ = Clock::now();
}

void Workers::manage(bool managed) {
    if (managed == managed_ && (managed || journal_.workers().empty())) return;
    managed_ = managed;
    if (managed) {
        failed_.clear();
        reset_measurement();
        if (is_wanted()) window_->after(0s);
        return;
    }
    release_all();
    for (auto& worker : status_) {
        worker.cpus.clear();
        worker.reason = "all workers are released; to bind them again: workers apply";
    }
}

void Workers::release_all() {
    failed_.clear();
    release_at_.clear();
    reset_measurement();
    window_->stop();
    sample_->stop();
    release_workers(journal_.workers(), log_);
    keep();
}

Result<> Workers::bind(pid_t pid, WorkerPolicy policy) {
    auto reading = TEAMO_TRY(read_process(pid));
    if (!managed_) return fail(EBUSY, "all workers are released by request; first run: workers apply");
    if (is_refused()) return fail(EBUSY, refused_);
    if (find(reading.worker.id) == nullptr) {
        const auto free = refuse_of_another_team(reading.worker);
        others_.reset();
        if (!free && free.error().number == EBUSY) return free;
    }
    const bool begins = !is_wanted();
    by_hand()[reading.worker.id] = policy;
    keep();
    if (begins) window_->after(0s);
    return {};
}

Result<> Workers::release(pid_t pid) {
    const auto reading = TEAMO_TRY(read_process(pid));
    const auto id = reading.worker.id;
    auto* status = status_of(id);
    if (!by_hand().contains(id) && status == nullptr)
        return fail(ENOENT, fmt::format("process {} is no worker of this team", pid));
    if (release(id)) release_at_.erase(id);
    release_unit(reading.worker.unit);
    by_hand()[id] = WorkerPolicy::off;
    if (status != nullptr) {
        status->cpus.clear();
        status->reason = "policy off";
    }
    keep();
    return {};
}

WorkersStatus Workers::status() const {
    return {.managed = managed_,
            .refused = refused_,
            .limitations = sampler_ ? sampler_->limitations() : std::string(),
            .complaint =
                is_wanted() && lacks_users() ? "waiting for the users that the rules name" : failure_.text(),
            .rules = rules(),
            .workers = status_};
}

/// Earlier counts do not apply any more, and some processes may be released.
void Workers::reset_measurement() {
    last_bindings_.clear();
    planner_ = WorkerPlanner();
    if (sampler_) sampler_->reset();
}

bool Workers::take_users() {
    if (auto found = lookup_.take()) {
        // A service that does not answer now takes nothing from what it has said before.
        found->merge(users_);
        users_ = std::move(*found);
        for (const auto& name : unknown_users())
            log_(Level::warning,
                 fmt::format("/workers: there is no user {}; the rule matches no process", name));
    }
    return !lacks_users();
}

std::vector<std::string> Workers::unknown_users() const {
    std::vector<std::string> names;
    for (const auto& rule : rules())
        if (rule.selector == WorkerSelector::user && !users_.contains(rule.name)) names.push_back(rule.name);
    return names;
}

/// EACCES, EPERM: by a daemon with the rights for it.
bool can_be_released_later(const Error& error) {
    return is_passing(error) || error.number == EACCES || error.number == EPERM;
}

void release_workers(BoundWorkers& bound, const Log& log) {
    const auto until = Clock::now() + default_patience;
    std::erase_if(bound.processes, [&](const WorkerBinding& process) {
        const auto patience = std::max(until - Clock::now(), Clock::duration::zero());
        const auto released =
            release_process(process, std::chrono::duration_cast<std::chrono::milliseconds>(patience));
        if (!released) log(Level::warning, released.error().text);
        return released || !can_be_released_later(released.error());
    });
    UnitBinder binder;
    for (const auto& [unit, binding] : std::map(bound.units))
        if (auto released = binder.release(unit, bound); !released)
            log(Level::warning, released.error().text);
}

} // namespace teamo
