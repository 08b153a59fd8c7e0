// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/worker_subsystem.h"

#include "kernel/cpus/cpus.h"
#include "workers/affinity.h"
#include "json/quote.h"

#include <algorithm>
#include <set>
#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr auto topology_age = 5s; ///< the topology changes seldom
constexpr auto bind_retry = 60s;  ///< after a process could not be bound
constexpr auto release_retry = 10s;
constexpr auto longest_lookup = 10s; ///< of users; then the other rules apply without them
/// Time for binding and releasing in each window, since it blocks the loop; the rest waits for the next
/// window. A process that starts threads without end costs up to four times as much, then it has to wait
/// itself.
constexpr std::chrono::milliseconds window_budget = 20ms;
constexpr const char* next_window = "will be bound in a second";

PortTraces traces_of(const std::vector<Interrupts::Arrival>& arrivals) {
    PortTraces traces;
    std::set<unsigned> shared;
    for (const auto& port : arrivals) {
        traces.devices[port.index] = port.name;
        for (const auto napi_id : port.napi_ids)
            traces.napi_ids[napi_id] = port.name;
        for (const auto cpu : port.cpus)
            if (!traces.cpus.emplace(cpu, port.name).second) shared.insert(cpu);
    }
    std::erase_if(traces.cpus, [&shared](const auto& entry) { return shared.contains(entry.first); });
    return traces;
}

ProcessTraffic per_second(ProcessTraffic traffic, double seconds) {
    const auto scaled = [seconds](std::uint64_t& count) {
        count = static_cast<std::uint64_t>(static_cast<double>(count) / seconds);
    };
    scaled(traffic.bytes);
    scaled(traffic.packets);
    for (auto& entry : traffic.by_cpu)
        scaled(entry.second);
    for (auto& entry : traffic.by_port)
        scaled(entry.second);
    return traffic;
}

/// Adds the time until its end.
class Spending {
public:
    explicit Spending(Clock::duration& spent) : spent_(spent) {}
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;
    ~Spending() { spent_ += Clock::now() - begun_; }

private:
    Clock::duration& spent_;
    const Clock::time_point begun_ = Clock::now();
};

std::string title_of(const Worker& worker) {
    return fmt::format("{} (process {})", json::printable(worker.command), worker.id.pid);
}

} // namespace

Result<std::unique_ptr<Workers>> Workers::make(TeamContext& context, const Interrupts& interrupts) {
    std::unique_ptr<Workers> workers(new Workers(context, interrupts));
    workers->window_ = TEAMO_TRY(Timer::make(context.loop, [self = workers.get()] { self->begin_window(); }));
    workers->sample_ = TEAMO_TRY(Timer::make(context.loop, [self = workers.get()] { self->end_window(); }));
    return workers;
}

void Workers::begin_window() {
    if (!is_wanted()) return;
    const bool is_known = take_users();
    if (!is_known && Clock::now() - looked_up_at_ < longest_lookup) return window_->after(100ms);
    lookup_failure_(log_, Level::warning, "workers: ",
                    is_known ? ""
                             : "the lookup of the users in the rules is not finished; until it is, these "
                               "rules match no process");
    window_->after(worker_window);
    if (is_refused()) return;
    if (!sampler_) sampler_.emplace();
    const auto length = sampler_->start_sample();
    limitations_(log_, Level::notice, "workers: ", sampler_->limitations());
    if (length)
        sample_->after(*length);
    else
        end_window();
}

/// RFS moves packets to the process, while we move the process to the packets: both together do not settle.
bool Workers::is_refused() {
    std::vector<std::string> ports;
    for (const auto& port : interrupts_.arrivals())
        ports.push_back(port.name);
    auto conflict = flow_steering_conflict(ports);
    if (conflict != refused_) {
        log_(conflict.empty() ? Level::notice : Level::warning,
             conflict.empty() ? "workers: RFS is off; binding workers again"
                              : "workers are not bound: " + conflict);
        refused_ = std::move(conflict);
        reset_measurement();
    }
    if (refused_.empty()) return false;
    status_.clear();
    begin_changes();
    forget_gone();
    return true;
}

void Workers::begin_changes() {
    spent_ = {};
    overlap_now_.clear();
    others_is_busy_ = false;
}

void Workers::end_window() {
    if (!is_wanted() || !sampler_) return;
    const auto now = Clock::now();
    const auto arrivals = interrupts_.arrivals();
    const auto seen = sampler_->observe({.rules = rules(), .users = users_, .known = journal_.workers()},
                                        traces_of(arrivals), now);
    if (!seen) return failure_(log_, Level::warning, "workers: ", seen.error().text);
    if (auto read = refresh_topology(now); !read && topology_.cpus.empty())
        return failure_(log_, Level::warning, "workers: ", read.error().text);
    if (release_at_.empty()) failure_.clear();
    status_.clear();
    WorkerPlanInput input{.topology = &topology_, .interrupts = interrupt_load()};
    for (const auto& port : arrivals)
        input.ports.push_back({.name = port.name, .cpus = port.cpus});
    for (const auto& one : *seen)
        input.workers.push_back(one.active);
    const auto placements = planner_.step(input, now);
    begin_changes();
    for (const auto& one : *seen) {
        const auto placement = std::ranges::find(placements, one.active.worker.id, &WorkerPlacement::id);
        if (placement != placements.end()) reconcile(one, *placement);
    }
    forget_gone();
    if (!others_is_busy_) overlap_(log_, Level::warning, "workers: ", overlap_now_);
    others_.reset();
}

Result<> Workers::refresh_topology(Clock::time_point now) {
    if (now - topology_at_ < topology_age) return {};
    topology_ = TEAMO_TRY(read_cpu_topology());
    topology_at_ = now;
    return {};
}

std::map<unsigned, double> Workers::interrupt_load() {
    std::map<unsigned, double> load;
    auto times = read_cpu_columns();
    if (!times) return load;
    for (const auto& [cpu, later] : *times)
        if (const auto earlier = cpu_times_.find(cpu); earlier != cpu_times_.end())
            load[cpu] = load_between(earlier->second, later).interrupts;
    cpu_times_ = std::move(*times);
    return load;
}

WorkerBinding* Workers::find(ProcessId id) {
    auto& processes = journal_.workers().processes;
    const auto found = std::ranges::find(processes, id, &WorkerBinding::id);
    return found == processes.end() ? nullptr : &*found;
}

WorkerStatus* Workers::status_of(ProcessId id) {
    const auto found = std::ranges::find(status_, id, [](const auto& one) { return one.worker.id; });
    return found == status_.end() ? nullptr : &*found;
}

/// Binds one worker as planned, or releases it, and records its status.
void Workers::reconcile(const WorkerSampler::ObservedWorker& seen, const WorkerPlacement& placement) {
    const auto& worker = seen.active.worker;
    WorkerStatus status{.worker = worker,
                        .rule = seen.rule,
                        .policy = seen.active.policy,
                        .traffic = per_second(seen.active.traffic, sampler_->seconds()),
                        .work = seen.active.work,
                        .cpus = placement.cpus,
                        .reason = placement.reason};
    if (placement.cpus.empty()) {
        release_in_window(worker.id);
        release_unit_in_window(worker.unit);
        const auto unit = journal_.workers().units.find(worker.unit);
        if (const auto* bound = find(worker.id); bound != nullptr)
            status.cpus = bound->cpus;
        else if (unit != journal_.workers().units.end())
            status.cpus = unit->second.cpus;
        if (!status.cpus.empty()) status.reason += "; is not released yet";
    } else if (auto bound = bind(seen, placement.cpus); !bound) {
        status.cpus.clear();
        status.reason = bound.error().text;
    }
    status_.push_back(std::move(status));
}

Result<> Workers::bind(const WorkerSampler::ObservedWorker& seen, const CpuList& cpus) {
    const auto& worker = seen.active.worker;
    const auto* known = find(worker.id);
    const auto& units = journal_.workers().units;
    const auto bind_unit = [&] {
        return units_.bind(worker, cpus, journal_.workers(), [this] { return journal_.keep(); });
    };
    bool by_unit = known == nullptr && seen.by_unit;
    if (const auto unit = units.find(worker.unit);
        by_unit && unit != units.end() && unit->second.cpus == cpus) {
        if (spent_ >= window_budget) return {};
        const Spending spending(spent_);
        if (TEAMO_TRY(bind_unit())) return {}; // only looks whether it still is
        by_unit = false;
    }
    // A new thread inherits the affinity of the thread that created it, perhaps from before it was bound.
    auto& last = last_bindings_[worker.id];
    const bool is_same = known != nullptr && !units.contains(worker.unit) && last.cpus == cpus;
    const auto drift = is_same ? drift_of(*known) : std::nullopt;
    if (is_same && !drift) {
        last.repair.step(false, Clock::now());
        if (last.threads == worker.threads) return {};
    }
    if (const auto failed = failed_.find(worker.id);
        failed != failed_.end() && failed->second.cpus == cpus && Clock::now() < failed->second.retry_at)
        return fail(EPERM, failed->second.text);
    if (spent_ >= window_budget) return fail(EAGAIN, next_window);
    const Spending spending(spent_);
    if (drift && *drift != cpus) TEAMO_TRY(may_set_back(worker, *drift, last.repair)); // or a wider cpuset
    if (known == nullptr && !units.contains(worker.unit)) TEAMO_TRY(refuse_of_another_team(worker));
    if (by_unit && TEAMO_TRY(bind_unit())) return {};
    if (!by_unit) release_unit(worker.unit); // AllowedCPUs= would restrict its threads
    const auto earlier = known == nullptr ? WorkerBinding{} : *known;
    const bool moves = known == nullptr || last.cpus != cpus;
    if (moves) TEAMO_TRY(write_before(worker.id, cpus));
    auto bound = bind_process(worker.id, cpus, earlier, window_budget, journal_.workers().processes);
    auto* entry = find(worker.id);
    if (!bound) {
        static_cast<void>(undo(worker.id)); // unless bind_process() has done it
        keep();
        if (bound.error().number != ESRCH) {
            log_(Level::warning, fmt::format("worker {}: {}", title_of(worker), bound.error().text));
            failed_[worker.id] = {
                .cpus = cpus, .text = bound.error().text, .retry_at = Clock::now() + bind_retry};
        }
        return tl::unexpected(bound.error());
    }
    failed_.erase(worker.id);
    last.cpus = cpus;
    last.threads = worker.threads;
    *entry = std::move(*bound);
    keep();
    if (moves)
        log_(Level::info, fmt::format("worker {}: runs on CPU {}", title_of(worker), text_of(entry->cpus)));
    return {};
}

/// The affinity that we set is `now` another one. Failure: it is not to be set back, or not yet.
Result<> Workers::may_set_back(const Worker& worker, const CpuList& now, Repair& tries) {
    const auto act = tries.step(true, Clock::now());
    const auto what = fmt::format("its CPUs were set to {} by another program", text_of(now));
    if (act == Repair::Act::attempt)
        log_(Level::notice, fmt::format("worker {}: {}; set back", title_of(worker), what));
    if (act == Repair::Act::give_up)
        log_(Level::warning, fmt::format("worker {}: {}, repeatedly; the daemon no longer repairs this. "
                                         "Configure that program not to change them",
                                         title_of(worker), what));
    return act == Repair::Act::attempt ? Result<>{} : fail(EBUSY, what);
}

/// Two teams whose rules select the same process would bind it in turn: the first one keeps it.
Result<> Workers::refuse_of_another_team(const Worker& worker) {
    if (!others_) {
        auto lock = TEAMO_TRY(LockFile::try_take(fmt::format("{}/workers.lock", journal_directory)));
        others_is_busy_ = !lock;
        if (!lock) return fail(EAGAIN, next_window);
        const auto is_there = [this](IfIndex team) { return context_.link(team) != nullptr; };
        others_.emplace(
            Others{.lock = std::move(*lock), .workers = read_workers_of_others(context_.name(), is_there)});
    }
    for (const auto& [team, bound] : others_->workers) {
        const auto process = std::ranges::find(bound.processes, worker.id, &WorkerBinding::id);
        const auto unit = bound.units.find(worker.unit);
        const bool binds = (process != bound.processes.end() && !drift_of(*process)) ||
                           (unit != bound.units.end() && unit->second.process == worker.id);
        if (!binds) continue;
        overlap_now_ = fmt::format(
            "the rules also select processes that are bound by team {}; they stay bound by that team", team);
        return fail(EBUSY, fmt::format("process {} is bound by {}", worker.id.pid, team));
    }
    return {};
}

/// Writes into the journal how to undo a binding, before it is made.
Result<> Workers::write_before(ProcessId id, const CpuList& cpus) {
    const auto before = journal_.workers();
    if (auto* known = find(id)) {
        known->leaving = std::exchange(known->cpus, cpus);
    } else {
        journal_.workers().processes.push_back(
            TEAMO_TRY(plan_binding(id, cpus, journal_.workers().processes)));
    }
    auto kept = journal_.keep();
    if (!kept) journal_.workers() = before;
    return kept;
}

Result<> Workers::undo(ProcessId id) {
    auto released = release_process(*find(id), window_budget);
    if (!released) last_bindings_.erase(id); // some threads may be free
    if (released || !can_be_released_later(released.error()))
        std::erase_if(journal_.workers().processes, [id](const auto& one) { return one.id == id; });
    return released;
}

/// False: its entry stays, and the release must be tried again.
bool Workers::release(ProcessId id) {
    if (find(id) == nullptr) return true;
    const auto reading = read_process(id.pid);
    const bool is_there = reading && reading->worker.id == id;
    const auto released = undo(id);
    if (!released && can_be_released_later(released.error())) {
        failure_(log_, Level::warning, "workers: ", released.error().text);
        return false;
    }
    if (!released)
        log_(Level::warning, released.error().text);
    else if (is_there)
        log_(Level::info, fmt::format("worker {}: released, its previous affinity is restored",
                                      title_of(reading->worker)));
    return true;
}

/// Or in a later window. A process that could not be released waits, so that others have their turn.
void Workers::release_in_window(ProcessId id) {
    const auto waits = release_at_.find(id);
    if (spent_ >= window_budget || (waits != release_at_.end() && Clock::now() < waits->second)) return;
    const Spending spending(spent_);
    if (release(id))
        release_at_.erase(id);
    else
        release_at_[id] = Clock::now() + release_retry;
}

void Workers::release_unit_in_window(const std::string& unit) {
    if (spent_ >= window_budget) return;
    const Spending spending(spent_);
    release_unit(unit);
}

void Workers::release_unit(const std::string& unit) {
    if (!journal_.workers().units.contains(unit)) return;
    if (auto released = units_.release(unit, journal_.workers());
        !released && released.error().number != EAGAIN)
        log_(Level::warning, fmt::format("unit {} stays bound: {}", unit, released.error().text));
}

/// Forgets processes that have ended, and releases those that no rule matches any more, as far as the users
/// of the rules are known.
void Workers::forget_gone() {
    const auto bound = journal_.workers();
    const bool waits_for_users = refused_.empty() && lacks_users();
    for (const auto& process : bound.processes) {
        if (status_of(process.id) != nullptr) continue;
        if (is_gone(process.id))
            release(process.id); // takes no time, and the journal must not grow
        else if (!waits_for_users)
            release_in_window(process.id);
    }
    for (const auto& entry : bound.units)
        if (!waits_for_users &&
            std::ranges::none_of(status_, [&](const auto& one) { return one.worker.unit == entry.first; }))
            release_unit_in_window(entry.first);
    std::erase_if(release_at_, [this](const auto& entry) { return find(entry.first) == nullptr; });
    std::erase_if(last_bindings_, [this](const auto& entry) { return find(entry.first) == nullptr; });
    std::erase_if(failed_, [this](const auto& entry) { return status_of(entry.first) == nullptr; });
    std::erase_if(by_hand(), [](const auto& entry) { return is_gone(entry.first); });
    keep();
}

} // namespace teamo
