// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/worker_sampler.h"

#include "kernel/cpus/cpus.h"
#include "plan/workers/worker_plan.h"
#include "workers/processes.h"

#include <algorithm>
#include <set>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds sample_length = 50ms; ///< per window; costs 120 ns per packet
constexpr auto window = worker_window;
constexpr auto reread_interval = 5s; ///< of other processes: exec(3) changes a name, which a rule may match

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

/// The worker with the rule that applies to it, if any.
WorkerSampler::ObservedWorker with_rule(ActiveWorker active, const WorkerSampler::Selection& selection) {
    WorkerSampler::ObservedWorker seen{.active = std::move(active)};
    const auto& worker = seen.active.worker;
    const auto& by_hand = selection.known.by_hand;
    if (const auto named = by_hand.find(worker.id); named != by_hand.end()) {
        seen.rule = "by hand";
        seen.active.policy = named->second;
    } else if (const auto* rule = rule_for(worker, selection.rules, selection.users)) {
        seen.rule = text_of(*rule);
        seen.active.policy = rule->policy;
        seen.by_unit = rule->selector == WorkerSelector::unit;
    }
    return seen;
}

} // namespace

std::string WorkerSampler::limitations() const {
    if (!source_.limitations().empty() || !sampler_failure_) return source_.limitations();
    return "UDP traffic is not measured: " + sampler_failure_->text;
}

std::optional<std::chrono::milliseconds> WorkerSampler::start_sample() {
    if (!udp_ || (sampler_failure_ && !is_passing(*sampler_failure_))) return std::nullopt;
    const auto begin = [this]() -> Result<> {
        if (!sampler_) sampler_ = TEAMO_TRY(UdpSampler::open());
        return sampler_->start(TEAMO_TRY(find_unified_cgroup()));
    };
    if (const auto begun = begin(); !begun) {
        sampler_failure_ = begun.error();
        return std::nullopt;
    }
    sampler_failure_.reset();
    sampling_since_ = Clock::now();
    return sample_length;
}

WorkerSampler::Sample WorkerSampler::end_sample() {
    const auto since = std::exchange(sampling_since_, {});
    if (!since) return {};
    auto rows = sampler_->stop();
    return {.rows = std::move(rows), .seconds = seconds_between(*since, Clock::now())};
}

void WorkerSampler::reset() {
    static_cast<void>(end_sample());
    meter_ = {};
    known_.clear();
    window_end_.reset();
}

/// Reads a process, and its CPU time since it was last read. nullptr: it is no worker, or has ended.
WorkerSampler::ObservedWorker* WorkerSampler::observe(pid_t pid, const Selection& selection,
                                                      Clock::time_point now) {
    const auto found = known_.find(pid);
    const auto* before = found == known_.end() ? nullptr : &found->second;
    const bool named = std::ranges::any_of(selection.known.by_hand,
                                           [pid](const auto& entry) { return entry.first.pid == pid; });
    if (before != nullptr && before->seen.rule.empty() && !named && now - before->at < reread_interval)
        return nullptr;
    auto reading = read_process(pid);
    if (!reading) {
        known_.erase(pid);
        return nullptr;
    }
    ActiveWorker active{.worker = std::move(reading->worker)};
    if (before != nullptr && before->seen.active.worker.id == active.worker.id && now > before->at)
        active.work = static_cast<double>(std::max(reading->ticks, before->ticks) - before->ticks) /
                      static_cast<double>(ticks_per_second()) / seconds_between(before->at, now);
    auto& known = known_[pid];
    known = {.seen = with_rule(std::move(active), selection), .ticks = reading->ticks, .at = now};
    return known.seen.rule.empty() ? nullptr : &known.seen;
}

Result<std::vector<WorkerSampler::ObservedWorker>>
WorkerSampler::observe(const Selection& selection, const PortTraces& ports, Clock::time_point now) {
    const auto sample = end_sample(); // first: to read the sockets takes long and would extend the sample
    const auto sockets = TEAMO_TRY(source_.read());
    seconds_ = window_end_ ? std::max(seconds_between(*window_end_, now), 0.001)
                           : std::chrono::duration<double>(window).count();
    window_end_ = now;
    auto traffic = meter_.step(sockets, ports, with_processes(sample.rows, sockets),
                               seconds_ / std::max(sample.seconds, 0.001));

    std::set<pid_t> processes, with_udp;
    for (const auto& socket : sockets) {
        processes.insert(socket.process);
        if (socket.transport == Transport::udp) with_udp.insert(socket.process);
    }
    for (const auto& entry : selection.known.by_hand)
        processes.insert(entry.first.pid);
    // A worker whose last connection has just ended is still a worker, also one of an earlier daemon.
    for (const auto& process : selection.known.processes)
        processes.insert(process.id.pid);
    for (const auto& entry : selection.known.units)
        processes.insert(entry.second.process.pid);
    for (const auto& [pid, known] : known_)
        if (!known.seen.rule.empty()) processes.insert(pid);
    std::erase_if(known_, [&processes](const auto& entry) { return !processes.contains(entry.first); });
    udp_ = false;
    std::vector<ObservedWorker> seen;
    Cpusets cpusets;
    for (const auto pid : processes) {
        auto* one = observe(pid, selection, now);
        if (one == nullptr) continue;
        if (one->active.policy != WorkerPolicy::off && with_udp.contains(pid)) udp_ = true;
        one->active.traffic = std::move(traffic[pid]);
        const auto unit = selection.known.units.find(one->active.worker.unit);
        one->active.allowed = cpusets.of(pid, unit == selection.known.units.end() ? nullptr : &unit->second);
        seen.push_back(*one);
    }
    return seen;
}

} // namespace teamo
