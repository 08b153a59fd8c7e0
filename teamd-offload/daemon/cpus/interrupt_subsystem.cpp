// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads the ports' interrupts, and plans their CPUs.
#include "daemon/cpus/interrupt_subsystem.h"

#include "kernel/cpus/cpus.h"
#include "kernel/ethtool/queue_statistics.h"
#include "kernel/files/files.h"
#include "kernel/interrupts/affinity_settings.h"
#include "kernel/interrupts/udev_policy.h"
#include "plan/interrupts/interrupt_settings.h"
#include "plan/interrupts/poll_slice.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 1s;        ///< each poll takes 0.2 ms of CPU with eight ports
constexpr auto slice_interval = 10ms;     ///< ports with many vectors are read one after the other
constexpr auto lock_poll_interval = 20ms; ///< another team's daemon needs the lock for a few writes
constexpr unsigned quick_lock_tries = 5;  ///< if it still holds the lock, it is probably stopped
constexpr auto slow_poll_interval = 5s;   ///< other teams' claims: not reported, seldom
constexpr auto topology_interval = 10s;   ///< cpuset partitions, too; some files of each CPU
/// The kernel reads XPS and RPS masks under RTNL, which would delay the response to a lost link.
constexpr auto mask_poll_interval = 30s;
constexpr auto vector_poll_interval = 1s; ///< of a port that is up and has no vectors; under RTNL, too

} // namespace

Result<std::unique_ptr<Interrupts>> Interrupts::make(TeamContext& context) {
    auto family = TEAMO_TRY(NetdevFamily::open());
    std::unique_ptr<Interrupts> interrupts(new Interrupts(context, std::move(family)));
    interrupts->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = interrupts.get()] { self->poll(); }));
    TEAMO_TRY(interrupts->ask_irqbalance());
    if (!interrupts->managed_) interrupts->claims_file_.remove(context.name()); // an earlier daemon's
    return interrupts;
}

Result<> Interrupts::ask_irqbalance() {
    // An earlier daemon's bans are withdrawn, too.
    if (!irqbalance_ && (config().irqbalance || IrqBalance::has_asked(context_.name())))
        irqbalance_ = TEAMO_TRY(IrqBalance::make(context_.loop, log_, context_.name()));
    return {};
}

void Interrupts::follow(const std::vector<Port>& ports) {
    bool changed = std::erase_if(ports_, [&ports](const Followed& one) {
                       return std::ranges::find(ports, one.index, &Port::index) == ports.end();
                   }) != 0;
    for (const auto& port : ports) {
        const auto found = std::ranges::find(ports_, port.index, &Followed::index);
        if (found != ports_.end() && *found == port) continue;
        changed = true;
        if (found == ports_.end()) {
            ports_.push_back({port});
            continue;
        }
        if (port.up && !found->up) found->stale = found->came_up = true;
        static_cast<Port&>(*found) = port;
    }
    if (!changed) return;
    plan_due_ = true;
    timer_->after(0s); // after the response to a lost port
}

void Interrupts::manage(bool managed) {
    const bool ends = !managed && managed_;
    managed_ = managed;
    if (ends) remove_claims();
    for (auto& port : ports_) {
        if (ends) {
            restore_unwanted(port);
            port.plan = {};
        }
        port.repair = port.mask_repair = {};
        port.contested = port.threads_stay = false;
        port.refused.clear();
    }
    plan_due_ = true;
    poll();
}

void Interrupts::reconfigure(const InterruptConfig& before) {
    if (config() == before) return;
    if (auto asked = ask_irqbalance(); !asked) log_(Level::warning, asked.error().text);
    plan_due_ = true;
    timer_->after(0s);
}

void Interrupts::remove_claims() {
    context_.shared.interrupt_plans.remove(context_.name());
    if (std::exchange(claimed_, false)) claims_file_.remove(context_.name());
}

bool Interrupts::has_queues() const {
    return std::ranges::any_of(ports_, [](const Followed& port) { return port.queues != 0; });
}

void Interrupts::poll() {
    read_cpus();
    const bool cpus_changed = std::exchange(cpus_changed_, false);
    refresh_next_masks();
    const auto ports = next_ports(cpus_changed || plan_due_);
    // Virtual devices have no queues; follow() reports a port that comes up.
    if (next_port_ != 0)
        timer_->after(slice_interval);
    else
        timer_->about(context_.shared.pause(has_queues() ? poll_interval : slow_poll_interval));
    for (auto& port : ports) {
        if (cpus_changed) {
            port.stale = true;    // virtio_net rewrites its queues' masks then
            port.refused.clear(); // a CPU that has just gone was refused before it was seen to be gone
        }
        read(port);
        if (managed_) learn(port);
    }
    make_plan();
    for (auto& port : ports)
        reconcile(port, cpus_changed);
    BannedIrqs irqs;
    for (const auto& port : ports_)
        add_bans(port, irqs);
    if (irqbalance_) irqbalance_->keep_out(config().irqbalance ? std::move(irqs) : BannedIrqs{});
}

/// All for a new plan, else as many as take little time. next_port_ is 0 when the last one is among them.
std::span<Interrupts::Followed> Interrupts::next_ports(bool all) {
    std::vector<std::size_t> vectors;
    for (const auto& port : ports_)
        vectors.push_back(all ? 0 : vectors_of(port.now).size());
    const auto slice = slice_of(vectors, all ? 0 : next_port_);
    next_port_ = slice.end == ports_.size() ? 0 : slice.end;
    return std::span(ports_).subspan(slice.begin, slice.end - slice.begin);
}

/// A port without vectors keeps its bans: to withdraw them and to ask again when it comes up makes irqbalance
/// place all interrupts of the machine anew, twice.
void Interrupts::add_bans(const Followed& port, BannedIrqs& irqs) const {
    const auto add = [&irqs](const auto& settings) {
        for (const auto& entry : settings)
            if (entry.first.kind == CpuSetting::Kind::irq) irqs.insert(entry.first.number);
    };
    add(port.wanted);
    const auto* set_cpus = managed_ && port.now.queues.empty() ? journal_.cpus(port.index) : nullptr;
    if (set_cpus != nullptr) add(*set_cpus);
}

/// The daemon's loop has ended by now, so the ban is withdrawn by a loop of its own, within 2 s.
void Interrupts::end() {
    remove_claims();
    irqbalance_.reset();
    if (!IrqBalance::has_asked(context_.name())) return; // status() is empty until the first round is over
    auto loop = make_loop();
    if (!loop) return;
    auto irqbalance = IrqBalance::make(loop->get(), log_, context_.name());
    if (!irqbalance) return;
    bool done = false;
    (*irqbalance)->release([&done] { done = true; });
    const auto deadline = Clock::now() + 2s;
    while (!done && Clock::now() < deadline)
        if (sd_event_run(loop->get(), std::chrono::microseconds(100ms).count()) < 0) return;
    if (!done)
        log_(Level::notice, "irqbalance did not answer within 2 s: the interrupts of the team's ports stay "
                            "banned in irqbalance until it restarts");
}

void Interrupts::read_cpus() {
    auto online = read_file("/sys/devices/system/cpu/online", 65536);
    const bool changed = online && *online != online_;
    const auto now = Clock::now();
    const bool is_due = has_queues() && now - topology_at_ >= topology_interval;
    if (!changed && !is_due && topology_at_ != Clock::time_point{}) return;
    auto topology = read_cpu_topology();
    if (!topology) return failure_(log_, Level::warning, "", topology.error().text);
    if (irqbalance_ && config().irqbalance) topology->keep_free(irqbalance_->banned_cpus());
    const bool first = online_.empty();
    if (online) online_ = std::move(*online);
    topology_at_ = now;
    if (*topology != topology_) plan_due_ = true;
    topology_ = std::move(*topology);
    cpus_changed_ |= changed && !first;
}

/// One port per poll, of those that have XPS or RPS masks set.
void Interrupts::refresh_next_masks() {
    const auto port = std::ranges::find_if(ports_, [now = Clock::now()](const Followed& one) {
        return now - one.read_at >= mask_poll_interval &&
               std::ranges::any_of(one.wanted, is_mask, &CpuSettings::value_type::first);
    });
    if (port != ports_.end()) port->stale = true;
}

/// Whether more than its affinities must be read.
bool Interrupts::must_read(Followed& port) {
    if (port.stale || !refresh(port.now)) return true;
    // A card that is down has no vectors; follow() reports that it comes up.
    if (!port.now.queues.empty() || port.queues == 0 || !port.up) return false;
    // It may request its vectors later than its link reports IFF_UP.
    return Clock::now() - port.read_at >= vector_poll_interval;
}

void Interrupts::read(Followed& port) {
    const auto* link = context_.link(port.index);
    if (link == nullptr || context_.is_replaced(port.index) || !must_read(port)) return;
    const auto netdev_queues = family_.read(port.index);
    auto read = read_port_interrupts(*link, netdev_queues ? *netdev_queues : NetdevQueues{});
    if (!read) { // the device is being removed, or its sysfs is not visible here
        port.read_at = Clock::now();
        return;
    }
    if (port.came_up)
        if (const auto udev = read_udev_irq_policy(port.index); udev && *udev)
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
    auto* set_cpus = port.now.queues.empty() ? nullptr : journal_.cpus(port.index);
    if (set_cpus == nullptr) return;
    // Forget settings of vectors that do not exist any more. A vector without a handler still exists.
    const auto gone = std::erase_if(*set_cpus, [&, there = read_cpu_settings(port.now)](const auto& entry) {
        return !there.contains(entry.first) && !read_cpu_setting(*link, entry.first);
    });
    if (gone != 0) static_cast<void>(journal_.keep()); // its other callers log a failure
}

void Interrupts::learn(Followed& port) {
    const auto now = Clock::now();
    if (!port.learner.wants_sample(port.now, now) ||
        !port.learner.learn(port.now, read_interrupt_sample(port.now, port.name), now))
        return;
    log_(Level::info, fmt::format("port {}: matched its interrupts to {} queues by their counts", port.name,
                                  port.now.queues.size()));
    note_queue_count(port);
}

/// A new number of queues needs a new plan. A card that is down keeps its number.
void Interrupts::note_queue_count(Followed& port) {
    const auto queues = static_cast<unsigned>(port.now.queues.size());
    if (queues == 0 || queues == port.queues) return;
    port.queues = queues;
    plan_due_ = true;
}

TeamPlans::Team Interrupts::wish() const {
    TeamPlans::Team own{.ports = {}, .eligible = topology_.eligible_for_interrupts(config().cpus)};
    for (const auto& port : ports_) {
        if (port.queues == 0) continue;
        auto& one = own.ports.emplace_back(planned_port(port.name, port.now));
        one.queues = port.queues; // a port keeps its CPUs while it is down
        one.is_new = port.plan.cpus.empty();
        one.load = port.load;
        one.standby = port.standby;
        if (!one.is_new) one.now = port.plan.cpus;
        std::ranges::move(claims_of(context_.name(), port.name, arrival_cpus(port), port.load, port.standby),
                          std::back_inserter(own.claims));
    }
    return own;
}

TeamPlans::Part Interrupts::plan() {
    auto& plans = context_.shared.interrupt_plans;
    plans.put(context_.name(), wish());
    return plans.part_of(context_.name(), topology_, config().cpus, claims_file_.others(plans.names()));
}

/// Another team of this process has planned. Not at once again and again, if two do not agree.
void Interrupts::plan_again(const std::set<std::string>& teams) {
    if (!managed_ || !teams.contains(context_.name())) return;
    plan_due_ = true;
    if (Clock::now() - claims_at_ >= poll_interval) timer_->after(0s);
}

void Interrupts::make_plan() {
    const auto now = Clock::now();
    if (!managed_ || (!plan_due_ && now - claims_at_ < slow_poll_interval)) return;
    if (!claimed_ && !has_queues()) return context_.shared.interrupt_plans.remove(context_.name());
    // One daemon at a time reads the claims and adds its own.
    const auto lock = claims_file_.try_lock();
    if (lock && !*lock)
        return timer_->after(++lock_tries_ > quick_lock_tries ? poll_interval : lock_poll_interval);
    if (!lock) claims_failure_(log_, Level::warning, "", lock.error().text);
    lock_tries_ = 0;
    claims_at_ = now;
    plan_due_ = false;
    auto part = plan();
    auto& made = part.plan;
    for (auto& placed : made.ports) {
        auto& port = *std::ranges::find(ports_, placed.name, &Followed::name);
        const bool other = port.plan.cpus != placed.cpus;
        port.plan = std::move(placed);
        if (other && !port.plan.cpus.empty())
            log_.port(Level::info, port.name, ": interrupts: " + port.plan.reason);
    }
    if (made.degraded != degraded_ && !made.degraded.empty())
        log_(Level::warning, fmt::format("not every port has an interrupt CPU of its own: {}", made.degraded),
             message_id::interrupts_degraded);
    degraded_ = std::move(made.degraded);
    context_.shared.interrupt_plans.put(context_.name(), wish());
    if (!part.others.empty()) context_.shared.interrupts_moved.tell(part.others);
    if (!lock) return;
    claimed_ = true;
    claims_failure_(log_, Level::warning, "", claims_file_.write(context_.name(), claims()));
}

/// As planned, or where its interrupts are if another program or the kernel keeps them there.
CpuList Interrupts::arrival_cpus(const Followed& port) const {
    auto planned = managed_ ? cpu_list_of(port.plan.cpus) : CpuList{};
    const bool is_refused = std::ranges::any_of(
        port.refused, [](const auto& entry) { return entry.first.kind == CpuSetting::Kind::irq; });
    // Until its next interrupt, effective_affinity still shows the previous CPU.
    if (!planned.empty() && !port.contested && !is_refused) return planned;
    CpuList cpus;
    for (const auto& queue : port.now.queues)
        for (const auto& vector : queue.vectors)
            cpus = united(std::move(cpus), vector.effective.empty() ? vector.affinity : vector.effective);
    return cpus.empty() ? planned : cpus;
}

std::vector<PortClaim> Interrupts::claims() const {
    std::vector<PortClaim> claims;
    for (const auto& port : ports_) {
        if (port.plan.cpus.empty()) continue;
        std::map<unsigned, CpuList> irqs;
        for (const auto& [setting, cpus] : interrupt_settings(port.now, port.plan.cpus, topology_, config()))
            if (setting.kind == CpuSetting::Kind::irq) irqs.emplace(setting.number, cpus);
        claims.push_back({.port = port.name,
                          .cpus = arrival_cpus(port),
                          .irqs = std::move(irqs),
                          .load = port.load,
                          .standby = port.standby});
    }
    return claims;
}

} // namespace teamo
