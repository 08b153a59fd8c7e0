// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/port_cpus.h"

#include "kernel/cpus/cpus.h"

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Each poll takes 0.1 ms of CPU.
constexpr auto arrival_poll_interval = 2s;
constexpr double smoothing = 15; // seconds
/// The kernel counts in ticks of 10 ms: a shorter time tells nothing.
constexpr auto least_time = 1s;
/// A smaller change of the load is noise: as a weight of the balancer it would move buckets back and forth.
constexpr double least_change = 0.2;

} // namespace

Result<std::unique_ptr<PortCpus>> PortCpus::make(TeamContext& context, Interrupts& interrupts) {
    std::unique_ptr<PortCpus> cpus(new PortCpus(context, interrupts));
    cpus->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = cpus.get()] { self->poll(); }));
    return cpus;
}

void PortCpus::follow(std::vector<Port> ports) {
    if (ports == followed_) return;
    followed_ = std::move(ports);
    std::erase_if(interrupt_cpus_, [this](const auto& entry) {
        return std::ranges::find(followed_, entry.first, &Port::index) == followed_.end();
    });
    timer_->after(0s); // after the response to a lost port
}

void PortCpus::poll() {
    if (followed_.empty()) return timer_->stop();
    timer_->about(context_.shared.pause(arrival_poll_interval));
    const bool any_known =
        std::ranges::any_of(interrupt_cpus_, [](const auto& entry) { return !entry.second.empty(); });
    if (any_known) read_load();
    if (read_interrupts()) context_.request_pass();
}

/// True: something has changed.
bool PortCpus::read_interrupts() {
    bool changed = false;
    const bool by_cpu = has(hash_fields_of(context_.config().runner), HashField::cpu);
    if (auto online = by_cpu ? read_online_cpus() : fail(ENODATA, ""); online && *online != online_) {
        online_ = std::move(*online);
        changed = true;
    }
    for (const auto& port : followed_) {
        auto& known = interrupt_cpus_[port.index];
        auto cpus = interrupts_.cpus_of(port.index);
        if (known == cpus) continue;
        known = std::move(cpus);
        changed = true;
        context_.log(Level::info,
                     fmt::format("port {}: {}", port.name,
                                 known.empty() ? "has no interrupts now"
                                               : fmt::format("interrupts on CPU {}", text_of(known))));
    }
    return changed;
}

void PortCpus::read_load() {
    const auto now = Clock::now();
    if (read_at_ && now - *read_at_ < least_time) return;
    const auto times = read_cpu_columns();
    if (!times) return;
    const double seconds = std::chrono::duration<double>(now - read_at_.value_or(now)).count();
    const double weight = 1 - std::exp(-seconds / smoothing);
    read_at_ = now;
    std::erase_if(work_, [&times](const auto& entry) { return !times->contains(entry.first); });
    for (const auto& [cpu, later] : *times) {
        const auto [entry, fresh] = work_.try_emplace(cpu, Work{.times = later});
        if (fresh) continue;
        auto& work = entry->second;
        const double share = load_between(std::exchange(work.times, later), later).work;
        const double before = work.share.value_or(share);
        work.share = before + weight * (share - before);
        if (!work.steady || std::abs(*work.share - *work.steady) >= least_change) work.steady = work.share;
    }
}

const std::vector<Slot>& PortCpus::slots(const std::vector<Port>& ports) {
    // Read now what was never read: a team that is adopted must not use other ports until the first poll.
    if (online_.empty())
        if (auto online = read_online_cpus()) online_ = std::move(*online);
    std::vector<ServedPort> served;
    for (const auto& port : ports) {
        if (!interrupt_cpus_.contains(port.index))
            interrupt_cpus_.emplace(port.index, interrupts_.cpus_of(port.index));
        served.push_back({.slot = port.slot, .interrupt_cpus = interrupt_cpus_[port.index]});
    }
    if (auto input = std::pair(std::move(served), online_); input != slot_input_) {
        slots_ = cpu_slots(input.first, online_);
        slot_input_ = std::move(input);
    }
    return slots_;
}

CpuList PortCpus::interrupt_cpus(IfIndex port) const {
    const auto found = interrupt_cpus_.find(port);
    return found == interrupt_cpus_.end() ? CpuList() : found->second;
}

double PortCpus::load(IfIndex port) const {
    // Their time is that of the port's own traffic, and the kernel counts it as other work.
    if (interrupts_.polls_in_threads(port)) return 0;
    double sum = 0;
    std::size_t count = 0;
    for (const auto cpu : interrupt_cpus(port))
        if (const auto found = work_.find(cpu); found != work_.end() && found->second.steady) {
            sum += *found->second.steady;
            ++count;
        }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

} // namespace teamo
