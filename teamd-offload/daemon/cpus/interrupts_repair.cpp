// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sets the affinities of a port's interrupts, repairs what another program changes, and restores them.
#include "daemon/cpus/interrupt_subsystem.h"

#include "kernel/interrupts/affinity_settings.h"
#include "plan/interrupts/interrupt_settings.h"

#include <algorithm>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

/// Other drivers free vectors of a CPU now and then, and nothing reports it.
constexpr std::chrono::seconds full_cpu_wait{60};

/// For the log and the state document: "interrupt 33 (eth0-rx-0)".
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

} // namespace

void Interrupts::reconcile(Followed& port, bool cpus_changed) {
    if (context_.is_replaced(port.index)) return;
    restore_unwanted(port);
    port.wanted =
        managed_ ? interrupt_settings(port.now, port.plan.cpus, topology_, config()) : CpuSettings{};
    auto* set_cpus = journal_.cpus(port.index);
    if (set_cpus == nullptr) return;
    const auto now = read_cpu_settings(port.now);
    std::erase_if(port.refused, [&](const auto& entry) {
        const auto wanted = port.wanted.find(entry.first);
        return !now.contains(entry.first) || wanted == port.wanted.end() ||
               wanted->second != entry.second.cpus;
    });
    std::erase_if(port.unwritten, [&](const auto& setting) { return !now.contains(setting); });
    CpuSettings fresh, drifted, drifted_masks;
    for (const auto& [setting, cpus] : missing(now, port.wanted)) {
        const auto refusal = port.refused.find(setting);
        const bool is_refused = refusal != port.refused.end();
        if (is_refused && Clock::now() < refusal->second.retry_at) continue;
        const auto known = set_cpus->find(setting);
        const bool was_ours = !is_refused && known != set_cpus->end() && known->second.ours == cpus &&
                              known->second.leaving.empty() && !port.unwritten.contains(setting);
        (!was_ours ? fresh : is_mask(setting) ? drifted_masks : drifted).emplace(setting, cpus);
    }
    if (!fresh.empty()) set(port, fresh);
    note_threads(port);
    if (drifted.empty()) port.contested = false;
    repair(port, port.repair, drifted, cpus_changed);
    repair(port, port.mask_repair, drifted_masks, cpus_changed);
    if (!port.now.queues.empty()) port.came_up = false;
}

DriftCause Interrupts::cause(const Followed& port, const CpuSetting& drifted, bool cpus_changed) const {
    DriftFacts facts{.cpus_changed = cpus_changed, .came_up = port.came_up};
    if (drifted.kind != Kind::irq) return cause_of(facts);
    facts.as_hint = is_as_hinted(drifted.number);
    facts.udev = port.udev;
    if (irqbalance_ && irqbalance_->status().present &&
        !irqbalance_->status().honoured.contains(drifted.number))
        facts.irqbalance = fmt::format("irqbalance (pid {})", irqbalance_->status().pid);
    return cause_of(facts);
}

void Interrupts::repair(Followed& port, Repair& tries, const CpuSettings& drifted, bool cpus_changed) {
    if (drifted.empty()) return static_cast<void>(tries.step(false, Clock::now()));
    const auto& [first, cpus] = *drifted.begin();
    const auto why = cause(port, first, cpus_changed);
    const auto act = why.kernel ? Repair::Act::attempt : tries.step(true, Clock::now());
    if (act == Repair::Act::nothing) return;
    const auto now = read_cpu_settings(port.now);
    const auto more = drifted.size() == 1 ? "" : fmt::format(" and {} more", drifted.size() - 1);
    const auto title = title_of(first, port.now);
    const auto what = fmt::format("{}{} {} set to {} {}", title, more, drifted.size() == 1 ? "was" : "were",
                                  cpus_text(now.at(first)), why.text);
    port.drift = what;
    if (act == Repair::Act::give_up) {
        if (!is_mask(first)) port.contested = true; // a mask does not decide where packets arrive
        log_.port(Level::warning, port.name,
                  fmt::format(": {}, repeatedly; the daemon no longer repairs this. Configure that program "
                              "not to change {}",
                              what, title),
                  message_id::interrupts_contested);
        return;
    }
    ++port.repaired;
    log_.port(Level::notice, port.name, fmt::format(": {}; set back to {}", what, cpus_text(cpus)),
              message_id::interrupts_repaired);
    set(port, drifted);
}

/// Writes the previous values into the journal first.
void Interrupts::set(Followed& port, const CpuSettings& settings) {
    auto* set_cpus = journal_.cpus(port.index);
    const auto now = read_cpu_settings(port.now);
    for (const auto& [setting, cpus] : settings) {
        const auto& present = now.at(setting);
        auto& known =
            set_cpus->try_emplace(setting, SetCpuList{.before = former_cpus(setting, present)}).first->second;
        // The kernel may refuse the new value, and we may die before it is written.
        if (known.ours != cpus && present == known.ours) known.leaving = present;
        known.ours = cpus;
    }
    const auto kept = journal_.keep();
    journal_failure_(log_, Level::warning, "", kept);
    if (!kept) { // what could not be restored is not changed
        for (const auto& entry : settings)
            port.unwritten.insert(entry.first);
        return;
    }
    for (const auto& [setting, cpus] : settings) {
        const auto done = write_cpu_setting(port.name, setting, cpus);
        port.unwritten.erase(setting);
        if (done) (*set_cpus)[setting].leaving.clear();
        if (done || done.error().number == ENOENT || done.error().number == ESRCH)
            port.refused.erase(setting); // it vanished meanwhile if not done
        else
            note_refusal(port, setting, cpus, done.error());
    }
    static_cast<void>(journal_.keep()); // what is written leaves nothing
    // Read what was set really; refresh() does not read XPS and RPS masks.
    if (!refresh(port.now) || std::ranges::any_of(settings, is_mask, &CpuSettings::value_type::first))
        port.stale = true;
}

void Interrupts::note_refusal(Followed& port, const CpuSetting& setting, const CpuList& cpus,
                              const Error& error) {
    // Tried again by the next poll; but ENOSPC (the CPU has no free vector) lasts longer.
    const bool is_full = error.number == ENOSPC;
    if (is_passing(error) && !is_full) {
        port.refused.erase(setting);
        port.unwritten.insert(setting);
        return;
    }
    auto& refusal = port.refused[setting];
    const bool is_known = refusal.text == error.text; // a retry is not logged again
    refusal = {.cpus = cpus,
               .text = error.text,
               .retry_at = is_full ? Clock::now() + full_cpu_wait : Clock::time_point::max()};
    if (is_known || (setting.kind == Kind::thread && error.number == EPERM)) return; // note_threads() logs it
    log_.port(Level::warning, port.name, ": " + error.text);
}

/// One line for all threads of a port. The rights are the same for each.
void Interrupts::note_threads(Followed& port) {
    const bool stay =
        managed_ && (port.now.hidden_threads || std::ranges::any_of(port.wanted, [&port](const auto& entry) {
                         return entry.first.kind == Kind::thread && port.refused.contains(entry.first);
                     }));
    if (stay && !port.threads_stay)
        log_.port(Level::warning, port.name, fmt::format(": {}", threads_stay_text));
    port.threads_stay = stay;
}

/// What an earlier configuration or daemon has set and this one does not set.
void Interrupts::restore_unwanted(Followed& port) {
    auto* set_cpus = journal_.cpus(port.index);
    const auto* link = context_.link(port.index);
    if (set_cpus == nullptr || link == nullptr) return;
    SetCpus unwanted;
    for (const auto& entry : *set_cpus)
        if (!managed_ || !is_switched_on(entry.first.kind, config())) unwanted.insert(entry);
    if (unwanted.empty()) return port.restore_failure.clear();
    std::string later;
    bool is_restored = false;
    for (const auto& entry : unwanted) {
        const auto restored = restore_cpus(*link, {entry});
        if (!restored && is_passing(restored.error())) {
            later = restored.error().text; // tried again by the next poll
            continue;
        }
        if (!restored) log_(Level::warning, fmt::format("port {}: {}", port.name, restored.error().text));
        set_cpus->erase(entry.first);
        is_restored = true;
    }
    port.restore_failure(log_, Level::warning, fmt::format("port {}: ", port.name), later);
    if (is_restored) port.stale = true;
    static_cast<void>(journal_.keep());
}

} // namespace teamo
