// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/worker_sampler.h"

#include "model/status.h"
#include "plan/workers/worker_plan.h"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds sample_length = 50ms; ///< per window; costs 120 ns per packet
constexpr auto window = worker_window;
/// A process that is no worker may become one: its name changes when it executes another program.
constexpr auto reread_interval = 5s;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

std::string WorkerSampler::limitations() const {
    if (!source_.limitations().empty() || sampler_failure_.empty()) return source_.limitations();
    return "UDP traffic is not measured: " + sampler_failure_;
}

std::optional<std::chrono::milliseconds> WorkerSampler::start_sample() {
    if (!udp_ || !sampler_failure_.empty()) return std::nullopt;
    const auto begin = [this]() -> Result<> {
        if (!sampler_) {
            auto sampler = TEAMO_TRY(UdpSampler::open());
            sampler_.emplace(std::move(sampler));
        }
        const auto root = TEAMO_TRY(find_unified_cgroup());
        return sampler_->start(root);
    };
    if (auto begun = begin(); !begun) {
        sampler_failure_ = begun.error().text;
        return std::nullopt;
    }
    sampling_ = true;
    sampling_since_ = Clock::now();
    return sample_length;
}

WorkerSampler::Sample WorkerSampler::end_sample() {
    if (!std::exchange(sampling_, false)) return {};
    auto rows = sampler_->stop();
    if (!rows) {
        sampler_failure_ = rows.error().text;
        return {};
    }
    return {.rows = std::move(*rows), .seconds = seconds_between(sampling_since_, Clock::now())};
}

void WorkerSampler::reset() {
    static_cast<void>(end_sample());
    meter_ = {};
    known_.clear();
    window_end_.reset();
}

void WorkerSampler::choose(Known& known, const Selection& selection) const {
    const auto& worker = known.reading.worker;
    known.rule.clear();
    known.by_unit = false;
    if (const auto named = selection.by_hand.find(worker.id); named != selection.by_hand.end()) {
        known.rule = "by hand";
        known.policy = named->second;
    } else if (const auto* rule = rule_for(worker, selection.rules, selection.users)) {
        known.rule = text_of(*rule);
        known.policy = rule->policy;
        known.by_unit = rule->selector == WorkerSelector::unit;
    }
}

/// A worker's CPU time since it was last read, in CPUs. None: it is no worker, or has ended.
std::optional<double> WorkerSampler::observe(pid_t pid, const Selection& selection, Clock::time_point now) {
    const auto found = known_.find(pid);
    const bool named =
        std::ranges::any_of(selection.by_hand, [pid](const auto& entry) { return entry.first.pid == pid; });
    if (found != known_.end() && found->second.rule.empty() && !named &&
        now - found->second.at < reread_interval)
        return std::nullopt;
    auto reading = read_process(pid);
    if (!reading) {
        known_.erase(pid);
        return std::nullopt;
    }
    double work = 0;
    if (found != known_.end() && found->second.reading.worker.id == reading->worker.id &&
        now > found->second.at) {
        const auto before = found->second.reading.ticks;
        work = static_cast<double>(std::max(reading->ticks, before) - before) /
               static_cast<double>(sysconf(_SC_CLK_TCK)) / seconds_between(found->second.at, now);
    }
    auto& known = known_[pid];
    known.reading = std::move(*reading);
    known.at = now;
    choose(known, selection);
    return known.rule.empty() ? std::nullopt : std::optional(work);
}

Result<std::vector<WorkerSampler::ObservedWorker>>
WorkerSampler::observe(const Selection& selection, const PortTraces& ports, Clock::time_point now) {
    const auto sample =
        end_sample(); // before reading the sockets, which takes long and would extend the sample
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
    for (const auto& entry : selection.by_hand)
        processes.insert(entry.first.pid);
    // A worker whose last connection has just ended is still a worker.
    for (const auto& [pid, known] : known_)
        if (!known.rule.empty()) processes.insert(pid);
    std::erase_if(known_, [&processes](const auto& entry) { return !processes.contains(entry.first); });
    udp_ = false;
    std::vector<ObservedWorker> seen;
    for (const auto pid : processes) {
        const auto work = observe(pid, selection, now);
        if (!work) continue;
        const auto& known = known_.at(pid);
        if (known.policy != WorkerPolicy::off && with_udp.contains(pid)) udp_ = true;
        seen.push_back({.active = {.worker = known.reading.worker,
                                   .policy = known.policy,
                                   .traffic = std::move(traffic[pid]),
                                   .work = *work},
                        .rule = known.rule,
                        .by_unit = known.by_unit});
    }
    return seen;
}

} // namespace teamo
