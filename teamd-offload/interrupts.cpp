// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interrupts.h"

#include "kernel/cpu_settings.h"
#include "kernel/cpu_topology.h"
#include "kernel/files.h"
#include "kernel/journal.h"
#include "kernel/port_interrupts.h"
#include "kernel/restore_cpus.h"
#include "kernel/udev_policy.h"
#include "plan/interrupt_settings.h"

#include <algorithm>
#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds interval = 250ms; ///< some 0.2 ms of CPU each with eight ports
/// What changes seldom, and of which nobody tells: cpuset partitions, other teams' claims, the queues' masks.
constexpr std::chrono::milliseconds seldom = 5s;

using Kind = CpuSetting::Kind;

/// As the log and the state speak of it: "interrupt 33 (eth0-rx-0)".
std::string title_of(const CpuSetting& setting, const PortInterrupts& port) {
    if (setting.kind == Kind::xps) return fmt::format("xps_cpus of tx-{}", setting.number);
    if (setting.kind == Kind::rps) return fmt::format("rps_cpus of rx-{}", setting.number);
    if (setting.kind == Kind::thread) return fmt::format("the NAPI thread {}", setting.number);
    std::string name;
    for (const auto& vector : vectors_of(port))
        if (vector.irq == setting.number) name = vector.name;
    return fmt::format("interrupt {} ({})", setting.number, name);
}

std::string cpus_text(const CpuList& cpus) {
    if (cpus.empty()) return "no CPU";
    return fmt::format("CPU{} {}", cpus.size() == 1 ? "" : "s", text_of(cpus));
}

/// The CPU of each queue at present, where each has just one.
std::vector<unsigned> cpus_now(const PortInterrupts& port) {
    std::vector<unsigned> cpus;
    for (const auto& queue : port.queues) {
        const auto& vector = queue.vectors.front();
        const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
        if (where.size() != 1) return {};
        cpus.push_back(where.front());
    }
    return cpus;
}

std::vector<std::optional<unsigned>> fixed_of(const PortInterrupts& port) {
    std::vector<std::optional<unsigned>> fixed;
    for (const auto& queue : port.queues) {
        const auto held = std::ranges::find(queue.vectors, false, &Vector::movable);
        const bool known = held != queue.vectors.end() && held->effective.size() == 1;
        fixed.push_back(known ? std::optional(held->effective.front()) : std::nullopt);
    }
    return fixed;
}

} // namespace

Result<std::unique_ptr<Interrupts>> Interrupts::make(sd_event* loop, const Log& log, std::string team,
                                                     const InterruptConfig& config, Hooks hooks) {
    auto family = NetdevFamily::open();
    if (!family) return tl::unexpected(family.error());
    std::unique_ptr<Interrupts> interrupts(
        new Interrupts(log, std::move(team), config, std::move(hooks), std::move(*family)));
    auto timer = Timer::make(loop, [self = interrupts.get()] { self->look(); });
    if (!timer) return tl::unexpected(timer.error());
    interrupts->timer_.emplace(std::move(*timer));
    if (config.irqbalance) {
        auto irqbalance = IrqBalance::make(loop, log, interrupts->team_name_, {});
        if (!irqbalance) return tl::unexpected(irqbalance.error());
        interrupts->irqbalance_ = std::move(*irqbalance);
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
            if (port.up && !found->port.up) found->in_doubt = found->came_up = true;
            found->port = port;
        } else {
            continue;
        }
        changed = true;
    }
    if (!changed) return;
    plan_due_ = true;
    timer_->after(0s); // behind whatever is being done about a lost port
}

void Interrupts::manage(bool managed) {
    if (!managed && managed_) {
        for (auto& port : ports_)
            put_back(port);
        unclaim();
    }
    managed_ = managed;
    for (auto& port : ports_) {
        port.repair = {};
        port.contested = false;
        port.refused.clear();
    }
    plan_due_ = true;
    look();
}

void Interrupts::unclaim() {
    if (!std::exchange(claimed_, false)) return;
    if (auto claims = CpuClaims::lock(std::string(journal_directory))) claims->remove(team_name_);
}

void Interrupts::look() {
    // Virtual devices have none, and what comes up is told of (follow).
    const auto has_some = [](const Followed& port) { return port.queues != 0; };
    timer_->after(std::ranges::any_of(ports_, has_some) ? interval : seldom);
    const bool cpus_changed = read_cpus();
    for (auto& port : ports_) {
        if (cpus_changed) port.in_doubt = true; // virtio_net writes its queues' masks anew then
        read(port);
    }
    make_plan();
    for (auto& port : ports_)
        tend(port, cpus_changed);
    keep_irqbalance_out();
}

void Interrupts::keep_irqbalance_out() {
    if (!irqbalance_) return;
    BannedIrqs irqs;
    for (const auto& port : ports_)
        for (const auto& entry : port.wanted)
            if (entry.first.kind == Kind::irq) irqs.insert(entry.first.number);
    irqbalance_->keep_out(std::move(irqs));
}

/// The loop has ended by now: one of its own takes back what was asked, as long as that is worth waiting for.
void Interrupts::end() {
    unclaim();
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

/// True where a CPU went or came.
bool Interrupts::read_cpus() {
    auto online = read_file("/sys/devices/system/cpu/online", 65536);
    const bool changed = online && *online != online_;
    const auto now = Clock::now();
    if (!changed && now - topology_at_ < seldom) return false;
    auto topology = read_cpu_topology();
    if (!topology) {
        if (complaint_ != topology.error().text) log_(Level::warning, topology.error().text);
        complaint_ = topology.error().text;
        return false;
    }
    const bool first = online_.empty();
    if (online) online_ = std::move(*online);
    topology_at_ = now;
    if (*topology != topology_) plan_due_ = true;
    topology_ = std::move(*topology);
    return changed && !first;
}

void Interrupts::read(Followed& port) {
    const auto link = team_.links().find(port.port.index);
    if (link == team_.links().end()) return;
    const auto now = Clock::now();
    const bool fresh = !port.in_doubt && (port.queues == 0 || now - port.read_at < seldom);
    if (fresh && refresh(port.now)) {
        // A card that is up and had no vectors may get some later than its link says so.
        if (!port.now.queues.empty() || port.queues == 0) return;
    }
    const auto told = family_.read(port.port.index);
    auto read = read_port_interrupts(link->second, told ? *told : NetdevQueues{});
    if (!read) return; // on its way out, or not to be seen from here
    if (port.came_up)
        if (const auto udev = read_udev_irq_policy(port.port.index); udev && *udev)
            port.udev = fmt::format("{} in {}", (*udev)->setting, (*udev)->file);
    port.in_doubt = false;
    port.read_at = now;
    port.polls.clear();
    if (told)
        for (const auto& napi : told->napis)
            port.polls.push_back(napi.id);
    const auto queues = static_cast<unsigned>(read->queues.size());
    if (queues != 0 && queues != port.queues) {
        port.queues = queues;
        plan_due_ = true;
    }
    port.now = std::move(*read);
    if (queues != 0) forget_stale(link->second, port);
}

/// A vector that is no more needs nothing put back. One that is only without a handler for now does.
void Interrupts::forget_stale(const Link& link, const Followed& port) {
    auto* journal = team_.set(port.port.index);
    if (journal == nullptr) return;
    const auto there = read_cpu_settings(port.now);
    const auto gone = std::erase_if(*journal, [&](const auto& entry) {
        return !there.contains(entry.first) && !read_cpu_setting(link, entry.first);
    });
    if (gone != 0) static_cast<void>(team_.keep()); // said by keep's other callers
}

InterruptPlan Interrupts::plan(const std::vector<CpuClaim>& claims) const {
    InterruptPremises premises{
        .topology = &topology_, .ports = {}, .allowed = config_.cpus, .claims = claims};
    for (const auto& port : ports_)
        if (port.queues != 0)
            premises.ports.push_back({.name = port.port.name,
                                      .node = port.now.node,
                                      .queues = port.queues,
                                      .now = port.plan.cpus.empty() ? cpus_now(port.now) : port.plan.cpus,
                                      .fixed = fixed_of(port.now),
                                      .load = port.port.load,
                                      .standby = port.port.standby});
    return plan_interrupts(premises);
}

void Interrupts::make_plan() {
    const auto now = Clock::now();
    if (!managed_ || (!plan_due_ && now - claims_at_ < seldom)) return;
    const auto has_some = [](const Followed& port) { return port.queues != 0; };
    if (!claimed_ && std::ranges::none_of(ports_, has_some)) return;
    // One daemon at a time looks what is free and takes it.
    auto claims = CpuClaims::lock(std::string(journal_directory));
    if (!claims && claims.error().number == EAGAIN) return; // with the next look
    if (!claims && complaint_ != claims.error().text) log_(Level::warning, complaint_ = claims.error().text);
    claims_at_ = now;
    plan_due_ = false;
    adopt(plan(claims ? claims->others(team_name_) : std::vector<CpuClaim>{}));
    if (!claims) return;
    claimed_ = true;
    if (auto written = claims->write(team_name_, this->claims()); !written)
        log_(Level::warning, written.error().text);
}

void Interrupts::adopt(InterruptPlan made) {
    for (auto& placed : made.ports)
        for (auto& port : ports_)
            if (port.port.name == placed.name) {
                const bool other = port.plan.cpus != placed.cpus;
                port.plan = std::move(placed);
                if (other) say_placed(port);
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

void Interrupts::tend(Followed& port, bool cpus_changed) {
    port.wanted = managed_ ? interrupt_settings(port.now, port.plan.cpus, topology_, config_) : CpuSettings{};
    auto* journal = team_.set(port.port.index);
    if (journal == nullptr) return;
    CpuSettings fresh, drifted;
    for (const auto& [setting, cpus] : missing(read_cpu_settings(port.now), port.wanted)) {
        if (port.refused.contains(setting)) continue;
        const auto known = journal->find(setting);
        const bool was_ours = known != journal->end() && known->second.ours == cpus;
        (was_ours ? drifted : fresh).emplace(setting, cpus);
    }
    if (!fresh.empty()) set(port, fresh);
    repair(port, drifted, cpus_changed);
    if (!port.now.queues.empty()) port.came_up = false;
}

DriftCause Interrupts::cause(const Followed& port, const CpuSetting& drifted, bool cpus_changed) const {
    DriftFacts facts{.cpus_changed = cpus_changed, .came_up = port.came_up};
    if (drifted.kind != Kind::irq) return cause_of(facts);
    facts.as_hint = is_as_hinted(drifted.number);
    facts.udev = port.udev;
    if (irqbalance_) {
        const auto& status = irqbalance_->status();
        if (status.present && !status.honoured.contains(drifted.number))
            facts.irqbalance = fmt::format("irqbalance (pid {})", status.pid);
    }
    return cause_of(facts);
}

void Interrupts::repair(Followed& port, const CpuSettings& drifted, bool cpus_changed) {
    if (drifted.empty()) {
        static_cast<void>(port.repair.step(false, Clock::now()));
        port.contested = false;
        return;
    }
    const auto& [first, cpus] = *drifted.begin();
    const auto why = cause(port, first, cpus_changed);
    const auto act = why.kernel ? Repair::Act::attempt : port.repair.step(true, Clock::now());
    if (act == Repair::Act::nothing) return;
    const auto now = read_cpu_settings(port.now);
    const auto more = drifted.size() == 1 ? "" : fmt::format(" and {} more", drifted.size() - 1);
    const auto what = fmt::format("{}{} went to {} {}", title_of(first, port.now), more,
                                  cpus_text(now.at(first)), why.text);
    port.drift = what;
    if (act == Repair::Act::give_up) {
        port.contested = true;
        log_(Level::warning,
             fmt::format("port {}: {}, time and again; it is left there. Who does so must be told to stop",
                         port.port.name, what),
             message_id::interrupts_contested, {{"PORT", port.port.name}});
        return;
    }
    ++port.repaired;
    log_(Level::notice, fmt::format("port {}: {}; back to {}", port.port.name, what, cpus_text(cpus)),
         message_id::interrupts_repaired, {{"PORT", port.port.name}});
    set(port, drifted);
}

/// What was before goes into the journal first.
void Interrupts::set(Followed& port, const CpuSettings& settings) {
    auto* journal = team_.set(port.port.index);
    const auto now = read_cpu_settings(port.now);
    for (const auto& [setting, cpus] : settings) {
        const auto known =
            journal->try_emplace(setting, SetCpuList{.before = now.at(setting), .ours = {}}).first;
        known->second.ours = cpus;
    }
    if (auto kept = team_.keep(); !kept) {
        log_(Level::warning, kept.error().text);
        return; // what could not be put back is not touched
    }
    for (const auto& [setting, cpus] : settings) {
        const auto done = write_cpu_setting(port.port.name, setting, cpus);
        if (done || done.error().number == ENOENT || done.error().number == ESRCH)
            continue;                                                                // it went meanwhile
        if (done.error().number == EBUSY || done.error().number == EAGAIN) continue; // with the next look
        port.refused.emplace(setting, done.error().text);
        log_(Level::warning, fmt::format("port {}: {}", port.port.name, done.error().text), message_id::none,
             {{"PORT", port.port.name}});
    }
    // Seen as it is now, not as it was asked for; the queues' masks are not among what refresh() reads.
    const auto is_mask = [](const auto& entry) {
        return entry.first.kind == Kind::xps || entry.first.kind == Kind::rps;
    };
    if (!refresh(port.now) || std::ranges::any_of(settings, is_mask)) port.in_doubt = true;
}

void Interrupts::say_placed(Followed& port) const {
    if (port.plan.cpus.empty()) return;
    log_(Level::info, fmt::format("port {}: interrupts: {}", port.port.name, port.plan.reason),
         message_id::none, {{"PORT", port.port.name}});
}

void Interrupts::put_back(Followed& port) {
    auto* journal = team_.set(port.port.index);
    if (journal == nullptr) return;
    const auto link = team_.links().find(port.port.index);
    if (link == team_.links().end()) return;
    if (auto restored = restore_cpus(link->second, *journal); !restored)
        log_(Level::warning, fmt::format("port {}: {}", port.port.name, restored.error().text));
    journal->clear();
    static_cast<void>(team_.keep());
    port.in_doubt = true;
    port.plan = {};
}

/// Sentences.
std::vector<std::string> Interrupts::writers() const {
    std::vector<std::string> list;
    if (irqbalance_ && irqbalance_->status().present) {
        const auto& status = irqbalance_->status();
        const bool honoured = std::ranges::includes(status.honoured, status.asked);
        const auto how = !status.complaint.empty()
                             ? " is there: " + status.complaint
                             : fmt::format("{}{}", honoured ? " leaves" : " is asked to leave", left_alone);
        list.push_back(fmt::format("irqbalance (pid {}){}", status.pid, how));
    }
    for (const auto& port : ports_)
        if (!port.udev.empty())
            list.push_back(
                fmt::format("systemd-udevd places the interrupts of {} too: {}", port.port.name, port.udev));
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
        Arrival one{.index = port.port.index, .name = port.port.name, .cpus = {}, .polls = port.polls};
        // A vector that has not come since it was set still shows where it came last.
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

InterruptStatus Interrupts::rehearse() {
    static_cast<void>(read_cpus());
    for (auto& port : ports_)
        read(port);
    const auto claims = CpuClaims::lock(std::string(journal_directory));
    const auto made = plan(claims ? claims->others(team_name_) : std::vector<CpuClaim>{});
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
