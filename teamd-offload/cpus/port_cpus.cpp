// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/port_cpus.h"

#include "kernel/cpus/cpu_topology.h"

#include <algorithm>
#include <cmath>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Each poll takes 0.1 ms of CPU.
constexpr auto arrival_poll_interval = 2s;
constexpr double smoothing = 15; // seconds

} // namespace

Result<std::unique_ptr<PortCpus>> PortCpus::make(sd_event* loop, const Log& log, Interrupts& interrupts,
                                                 std::function<void()> request_pass) {
    std::unique_ptr<PortCpus> cpus(new PortCpus(log, interrupts, std::move(request_pass)));
    auto timer = TEAMO_TRY(Timer::make(loop, [self = cpus.get()] { self->poll(); }));
    cpus->timer_.emplace(std::move(timer));
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
    timer_->after(arrival_poll_interval);
    read_load();
    if (read_interrupts()) request_pass_();
}

/// True: something has changed.
bool PortCpus::read_interrupts() {
    bool changed = false;
    if (auto online = read_online_cpus(); online && *online != online_) {
        online_ = std::move(*online);
        changed = true;
    }
    for (const auto& port : followed_) {
        auto& known = interrupt_cpus_[port.index];
        auto cpus = interrupts_.cpus_of(port.index);
        if (known == cpus) continue;
        known = std::move(cpus);
        changed = true;
        log_(Level::info, fmt::format("port {}: {}", port.name,
                                      known.empty() ? "has no interrupts now"
                                                    : fmt::format("interrupts on CPU {}", text_of(known))));
    }
    return changed;
}

void PortCpus::read_load() {
    const auto times = read_cpu_times();
    if (!times) return;
    const auto now = Clock::now();
    const double seconds = read_at_ ? std::chrono::duration<double>(now - *read_at_).count() : 0;
    const double weight = 1 - std::exp(-seconds / smoothing);
    read_at_ = now;
    std::erase_if(work_, [&times](const auto& entry) { return !times->contains(entry.first); });
    for (const auto& [cpu, later] : *times) {
        auto [entry, fresh] = work_.try_emplace(cpu);
        auto& work = entry->second;
        if (!fresh) {
            const double share = load_between(work.times, later).work;
            work.share = work.known ? work.share + weight * (share - work.share) : share;
            work.known = true;
        }
        work.times = later;
    }
}

const std::vector<Slot>& PortCpus::slots(const std::vector<Port>& ports) {
    // Read now what was never read: a team that is adopted must not use other ports until the first poll.
    if (online_.empty())
        if (auto online = read_online_cpus()) online_ = std::move(*online);
    for (const auto& port : ports)
        if (!interrupt_cpus_.contains(port.index))
            interrupt_cpus_.emplace(port.index, interrupts_.cpus_of(port.index));
    SlotInput wanted{.ports = {}, .online = online_};
    for (const auto& port : ports)
        wanted.ports.push_back({.slot = port.slot, .interrupt_cpus = interrupt_cpus(port.index)});
    if (wanted != slot_input_) {
        slots_ = cpu_slots(wanted.ports, wanted.online);
        slot_input_ = std::move(wanted);
    }
    return slots_;
}

const CpuList& PortCpus::interrupt_cpus(IfIndex port) const {
    static const CpuList none;
    const auto found = interrupt_cpus_.find(port);
    return found == interrupt_cpus_.end() ? none : found->second;
}

double PortCpus::load(IfIndex port) const {
    double sum = 0;
    std::size_t count = 0;
    for (const auto cpu : interrupt_cpus(port))
        if (const auto found = work_.find(cpu); found != work_.end() && found->second.known) {
            sum += found->second.share;
            ++count;
        }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

} // namespace teamo
