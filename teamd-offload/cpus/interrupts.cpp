// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads the ports' interrupts, and plans their CPUs.
#include "cpus/interrupts.h"

#include "kernel/cpus/cpus.h"
#include "kernel/ethtool/queue_statistics.h"
#include "kernel/files/files.h"
#include "kernel/interrupts/affinity_settings.h"
#include "kernel/interrupts/port_interrupts.h"
#include "kernel/interrupts/udev_policy.h"
#include "plan/interrupts/interrupt_settings.h"
#include "runtime/journal.h"

#include <algorithm>
#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds poll_interval = 250ms; ///< each poll takes 0.2 ms of CPU with eight ports
/// Another team's daemon needs the lock for a few writes.
constexpr std::chrono::milliseconds lock_poll_interval = 20ms;
/// For what changes seldom and is not reported: cpuset partitions, other teams' claims.
constexpr std::chrono::milliseconds slow_poll_interval = 5s;
/// The kernel reads XPS and RPS masks under RTNL, which would delay the response to a lost link.
constexpr std::chrono::milliseconds mask_poll_interval = 30s;

using Kind = CpuSetting::Kind;

} // namespace

Result<std::unique_ptr<Interrupts>> Interrupts::make(sd_event* loop, const Log& log, std::string team,
                                                     const InterruptConfig& config, const Observer& observer,
                                                     JournalKeeper& journal) {
    auto family = TEAMO_TRY(NetdevFamily::open());
    std::unique_ptr<Interrupts> interrupts(
        new Interrupts(log, std::move(team), config, observer, journal, std::move(family)));
    auto timer = TEAMO_TRY(Timer::make(loop, [self = interrupts.get()] { self->poll(); }));
    interrupts->timer_.emplace(std::move(timer));
    if (config.irqbalance) {
        auto irqbalance = TEAMO_TRY(IrqBalance::make(loop, log, interrupts->team_name_, {}));
        interrupts->irqbalance_ = std::move(irqbalance);
    }
    return interrupts;
}

void Interrupts::follow(const std::vector<Port>& ports) {
    bool changed = std::erase_if(ports_, [&ports](const Followed& one) {
                       return std::ranges::find(ports, one.port.index, &Port::index) == ports.end();
                   }) != 0;
    for (const auto& port : ports) {
        const auto found =
            std::ranges::find(ports_, port.index, [](const auto& one) { return one.port.index; });
        if (found == ports_.end()) {
            ports_.push_back({.port = port});
        } else if (found->port != port) {
            if (port.up && !found->port.up) found->stale = found->came_up = true;
            found->port = port;
        } else {
            continue;
        }
        changed = true;
    }
    if (!changed) return;
    plan_due_ = true;
    timer_->after(0s); // after the response to a lost port
}

void Interrupts::manage(bool managed) {
    if (!managed && managed_) {
        for (auto& port : ports_)
            restore(port);
        remove_claims();
    }
    managed_ = managed;
    for (auto& port : ports_) {
        port.repair = port.mask_repair = {};
        port.contested = false;
        port.refused.clear();
    }
    plan_due_ = true;
    poll();
}

void Interrupts::remove_claims() {
    if (std::exchange(claimed_, false)) CpuClaims(std::string(journal_directory)).remove(team_name_);
}

void Interrupts::poll() {
    // Virtual devices have no queues; follow() reports a port that comes up.
    const auto has_some = [](const Followed& port) { return port.queues != 0; };
    timer_->after(std::ranges::any_of(ports_, has_some) ? poll_interval : slow_poll_interval);
    const bool cpus_changed = read_cpus();
    refresh_next_masks();
    for (auto& port : ports_) {
        if (cpus_changed) port.stale = true; // virtio_net rewrites its queues' masks then
        read(port);
        if (managed_) learn(port);
    }
    make_plan();
    for (auto& port : ports_)
        reconcile(port, cpus_changed);
    update_irqbalance_ban();
}

void Interrupts::update_irqbalance_ban() {
    if (!irqbalance_) return;
    BannedIrqs irqs;
    for (const auto& port : ports_)
        for (const auto& entry : port.wanted)
            if (entry.first.kind == Kind::irq) irqs.insert(entry.first.number);
    irqbalance_->keep_out(std::move(irqs));
}

/// The daemon's loop has ended by now, so the ban is withdrawn by a loop of its own, within 2 s.
void Interrupts::end() {
    remove_claims();
    constexpr auto patience = 2s;
    if (!irqbalance_ || !irqbalance_->status().present) return;
    irqbalance_.reset();
    auto loop = make_loop();
    if (!loop) return;
    auto irqbalance = IrqBalance::make(loop->get(), log_, team_name_, {});
    if (!irqbalance) return;
    bool done = false;
    (*irqbalance)->release([&done] { done = true; });
    const auto start = Clock::now();
    while (!done && Clock::now() - start < patience)
        if (sd_event_run(loop->get(), std::chrono::microseconds(100ms).count()) < 0) return;
}

/// True: a CPU went offline or came online.
bool Interrupts::read_cpus() {
    auto online = read_file("/sys/devices/system/cpu/online", 65536);
    const bool changed = online && *online != online_;
    const auto now = Clock::now();
    if (!changed && now - topology_at_ < slow_poll_interval) return false;
    auto topology = read_cpu_topology();
    if (!topology) {
        failure_(log_, Level::warning, "", topology.error().text);
        return false;
    }
    const bool first = online_.empty();
    if (online) online_ = std::move(*online);
    topology_at_ = now;
    if (*topology != topology_) plan_due_ = true;
    topology_ = std::move(*topology);
    return changed && !first;
}

/// One port per poll, of those that have XPS or RPS masks set.
void Interrupts::refresh_next_masks() {
    const auto now = Clock::now();
    const auto has_masks = [](const Followed& port) {
        return std::ranges::any_of(port.wanted, [](const auto& entry) { return is_mask(entry.first); });
    };
    for (auto& port : ports_)
        if (now - port.read_at >= mask_poll_interval && has_masks(port)) {
            port.stale = true;
            return;
        }
}

void Interrupts::read(Followed& port) {
    const auto link = observer_.links().find(port.port.index);
    if (link == observer_.links().end()) return;
    if (!port.stale && refresh(port.now)) {
        // A card may request its vectors later than its link reports IFF_UP.
        if (!port.now.queues.empty() || port.queues == 0) return;
    }
    const auto netdev_queues = family_.read(port.port.index);
    auto read = read_port_interrupts(link->second, netdev_queues ? *netdev_queues : NetdevQueues{});
    if (!read) return; // the device is being removed, or its sysfs is not visible here
    if (port.came_up)
        if (const auto udev = read_udev_irq_policy(port.port.index); udev && *udev)
            port.udev = fmt::format("{} in {}", (*udev)->setting, (*udev)->file);
    port.stale = false;
    port.read_at = Clock::now();
    port.napi_ids.clear();
    if (netdev_queues)
        for (const auto& napi : netdev_queues->napis)
            port.napi_ids.push_back(napi.id);
    port.now = std::move(*read);
    port.learner.apply(port.now);
    note_queue_count(port);
    if (!port.now.queues.empty()) forget_vanished(link->second, port);
}

void Interrupts::learn(Followed& port) {
    const auto now = Clock::now();
    if (!port.learner.wants_sample(port.now, now)) return;
    if (!port.learner.learn(port.now, read_interrupt_sample(port.now, port.port.name), now)) return;
    log_(Level::info, fmt::format("port {}: matched its interrupts to {} queues by their counts",
                                  port.port.name, port.now.queues.size()));
    note_queue_count(port);
}

/// A new number of queues needs a new plan. A card that is down keeps its number.
void Interrupts::note_queue_count(Followed& port) {
    const auto queues = static_cast<unsigned>(port.now.queues.size());
    if (queues == 0 || queues == port.queues) return;
    port.queues = queues;
    plan_due_ = true;
}

/// Forgets settings of vectors that do not exist any more. A vector without a handler still exists.
void Interrupts::forget_vanished(const Link& link, const Followed& port) {
    auto* set_cpus = journal_.cpus(port.port.index);
    if (set_cpus == nullptr) return;
    const auto there = read_cpu_settings(port.now);
    const auto gone = std::erase_if(*set_cpus, [&](const auto& entry) {
        return !there.contains(entry.first) && !read_cpu_setting(link, entry.first);
    });
    if (gone != 0) static_cast<void>(journal_.keep()); // its other callers log a failure
}

InterruptPlan Interrupts::plan(const std::vector<CpuClaim>& claims) const {
    InterruptPlanInput input{.topology = &topology_, .ports = {}, .allowed = config_.cpus, .claims = claims};
    for (const auto& port : ports_) {
        if (port.queues == 0) continue;
        auto& one = input.ports.emplace_back(planned_port(port.port.name, port.now));
        one.queues = port.queues; // a port keeps its CPUs while it is down
        if (!port.plan.cpus.empty()) one.now = port.plan.cpus;
        one.load = port.port.load;
        one.standby = port.port.standby;
    }
    return plan_interrupts(input);
}

void Interrupts::make_plan() {
    const auto now = Clock::now();
    if (!managed_ || (!plan_due_ && now - claims_at_ < slow_poll_interval)) return;
    const auto has_some = [](const Followed& port) { return port.queues != 0; };
    if (!claimed_ && std::ranges::none_of(ports_, has_some)) return;
    // One daemon at a time reads the claims and adds its own.
    const CpuClaims claims{std::string(journal_directory)};
    const auto lock = claims.try_lock();
    if (lock && !*lock) return timer_->after(lock_poll_interval);
    if (!lock) failure_(log_, Level::warning, "", lock.error().text);
    claims_at_ = now;
    plan_due_ = false;
    adopt(plan(claims.others(team_name_)));
    if (!lock) return;
    claimed_ = true;
    if (auto written = claims.write(team_name_, this->claims()); !written)
        log_(Level::warning, written.error().text);
}

void Interrupts::adopt(InterruptPlan made) {
    for (auto& placed : made.ports)
        for (auto& port : ports_)
            if (port.port.name == placed.name) {
                const bool other = port.plan.cpus != placed.cpus;
                port.plan = std::move(placed);
                if (other) log_placed(port);
                break;
            }
    if (made.degraded != degraded_ && !made.degraded.empty())
        log_(Level::warning, fmt::format("not every port has an interrupt CPU of its own: {}", made.degraded),
             message_id::interrupts_degraded);
    degraded_ = std::move(made.degraded);
}

std::vector<PortClaim> Interrupts::claims() const {
    std::vector<PortClaim> claims;
    for (const auto& port : ports_) {
        if (port.plan.cpus.empty()) continue;
        PortClaim claim{.port = port.port.name,
                        .cpus = cpu_list_of(port.plan.cpus),
                        .irqs = {},
                        .load = port.port.load,
                        .standby = port.port.standby};
        for (const auto& [setting, cpus] : interrupt_settings(port.now, port.plan.cpus, topology_, config_))
            if (setting.kind == Kind::irq) claim.irqs.emplace(setting.number, cpus);
        claims.push_back(std::move(claim));
    }
    return claims;
}

void Interrupts::log_placed(Followed& port) const {
    if (port.plan.cpus.empty()) return;
    log_(Level::info, fmt::format("port {}: interrupts: {}", port.port.name, port.plan.reason),
         message_id::none, {{"PORT", port.port.name}});
}

/// Programs that also change affinities, one sentence each.
std::vector<std::string> Interrupts::writers() const {
    std::vector<std::string> list;
    if (irqbalance_ && irqbalance_->status().present) {
        const auto& status = irqbalance_->status();
        const bool honoured = std::ranges::includes(status.honoured, status.asked);
        const auto how = !status.complaint.empty()
                             ? " is running: " + status.complaint
                             : fmt::format("{}{}", honoured ? " leaves" : " is asked to leave", left_alone);
        list.push_back(fmt::format("irqbalance (pid {}){}", status.pid, how));
    }
    for (const auto& port : ports_)
        if (!port.udev.empty())
            list.push_back(fmt::format("systemd-udevd also sets the affinity of {}'s interrupts: {}",
                                       port.port.name, port.udev));
    return list;
}

InterruptStatus Interrupts::status() const {
    InterruptStatus status{.policy = config_.policy,
                           .managed = managed_,
                           .degraded = degraded_,
                           .writers = writers(),
                           .ports = {}};
    for (const auto& port : ports_) {
        PortInterruptStatus one{.name = port.port.name,
                                .now = port.now,
                                .cpus = managed_ ? port.plan.cpus : std::vector<unsigned>{},
                                .reason = port.plan.reason,
                                .moves = false,
                                .wanted = port.wanted,
                                .shares = port.plan.shares_with};
        for (const auto& entry : port.refused)
            one.refused.push_back(entry.second);
        one.repaired = port.repaired;
        one.contested = port.contested;
        one.drift = port.drift;
        status.ports.push_back(std::move(one));
    }
    return status;
}

std::vector<Interrupts::Arrival> Interrupts::arrivals() const {
    std::vector<Arrival> list;
    for (const auto& port : ports_) {
        Arrival one{.index = port.port.index, .name = port.port.name, .cpus = {}, .napi_ids = port.napi_ids};
        // Until its next interrupt, effective_affinity still shows the previous CPU.
        if (managed_ && !port.contested) one.cpus = cpu_list_of(port.plan.cpus);
        if (one.cpus.empty())
            for (const auto& queue : port.now.queues)
                for (const auto& vector : queue.vectors)
                    one.cpus =
                        united(one.cpus, vector.effective.empty() ? vector.affinity : vector.effective);
        list.push_back(std::move(one));
    }
    return list;
}

CpuList Interrupts::cpus_of(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, [](const Followed& one) { return one.port.index; });
    if (found == ports_.end()) return {};
    if (found->read_at == Clock::time_point{}) read(*found);
    return interrupt_cpus(found->now);
}

InterruptStatus Interrupts::dry_run() {
    static_cast<void>(read_cpus());
    for (auto& port : ports_)
        read(port);
    const auto made = plan(CpuClaims(std::string(journal_directory)).others(team_name_));
    auto status = this->status();
    status.degraded = made.degraded;
    for (auto& port : status.ports) {
        const auto placed = std::ranges::find(made.ports, port.name, &PlacedPort::name);
        if (placed == made.ports.end()) continue;
        port.cpus = placed->cpus;
        port.reason = placed->reason;
        port.shares = placed->shares_with;
        port.moves = placed->moves;
    }
    return status;
}

} // namespace teamo
