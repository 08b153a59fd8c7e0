// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/team.h"

#include "team/ports/port_views.h"
#include "team/requests.h"
#include "team/status.h"

namespace teamo {

/// How often changes are polled that the kernel does not report: addresses above the team, GSO limits. A port
/// may miss them as long as linkwatch may delay the report of a carrier.
constexpr std::chrono::seconds poll_interval{1};

/// Observe, decide, plan, apply: after every batch of events, and at deadlines. Does nothing if nothing has
/// changed. A port that lost its link or its device is removed from the tables before anything slower begins.
void Team::pass() {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    const auto events = context.observer->events_taken();
    if (!update_ports()) return;
    reconciler.run();
    bool changed = ports.update_membership();
    changed = uppers.update() || changed;
    if (changed) ports.step_watches();
    changed = subsystems.offloads->step(Clock::now()) || changed;
    if (changed) reconciler.run();
    context.journal.save();
    inform_subsystems();
    // Parts that ran before an event was read have not seen it: run the pass again.
    set_timer(context.observer->events_taken() != events);
}

/// Updates the ports from the observer. False: the team's device is gone.
bool Team::update_ports() {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    if (context.team() == nullptr) {
        if (const auto failed = std::exchange(failed_, nullptr))
            failed(Error{ENODEV, fmt::format("device {} was removed by another program", context.name())});
        return false;
    }
    ports.drop_lost();
    ports.step_watches();
    return true;
}

void Team::inform_subsystems() {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    const auto& tables = reconciler.tables();
    std::set<IfIndex> followed;
    for (const auto& port : ports.all())
        followed.insert(port.index);
    subsystems.carrier_monitor->follow(followed);
    subsystems.interrupts->follow(interrupt_ports(context, ports, reconciler.decision().active));
    if (tables.mode == TransmitMode::hash) subsystems.port_cpus->follow(cpu_ports(ports));
    subsystems.balancing->follow(balanced_ports(ports, tables, *subsystems.offloads), tables);
}

void Team::set_timer(bool again) {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    std::optional<Clock::time_point> first;
    if (again) first = Clock::now();
    for (const auto& deadline : {ports.deadline(), reconciler.deadline(), subsystems.offloads->deadline(),
                                 context.journal.deadline()})
        if (deadline && (!first || *deadline < *first)) first = deadline;
    if (first)
        timer_->at(*first);
    else
        timer_->stop();
}

void Team::poll_unreported() {
    auto& context = parts_.context;
    const bool stale = context.observer->is_stale();
    if (stale) context.observer->catch_up();
    const bool limits = parts_.ports.update_gso_limits();
    // The team driver sets the addresses of its ports itself.
    const bool addresses = !context.datapath->kernel_manages_ports() && parts_.uppers.update_addresses();
    if (stale || limits || addresses) pass_soon_->soon();
    poll_timer_->after(poll_interval);
}

/// Events that are read here do not wake the loop any more, so the pass for them runs here.
control::Reply Team::answer(const control::Request& request) {
    parts_.context.observer->catch_up();
    static_cast<void>(update_ports());
    const auto make_reply = begin_request(parts_, request);
    pass();
    return make_reply();
}

TeamStatus Team::status() { return status_of(parts_); }

} // namespace teamo
