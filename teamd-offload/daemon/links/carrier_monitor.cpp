// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/carrier_monitor.h"

#include <linux/if.h>
#include <sys/epoll.h>

namespace teamo {

/// The longest delay until a lost link is detected; costs a hundred wake-ups per second. The second where the
/// programs avoid such a port by themselves: the news can wait, and a flap is counted all the same.
constexpr std::chrono::milliseconds poll_period{10}, slow_period{1000};

Result<std::unique_ptr<CarrierMonitor>> CarrierMonitor::make(TeamContext& context) {
    std::unique_ptr<CarrierMonitor> monitor(new CarrierMonitor(context));
    monitor->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = monitor.get()] { self->poll_counts(); }));
    monitor->reread_ = TEAMO_TRY(Deferred::make(context.loop, Priority::link, [self = monitor.get()] {
        self->context_.observer->reread(std::exchange(self->unread_, {}));
    }));
    return monitor;
}

void CarrierMonitor::follow(const std::set<IfIndex>& ports) {
    std::set<IfIndex> late;
    for (const auto port : ports)
        if (const auto* link = context_.link(port); link != nullptr && events_are_late(*link))
            late.insert(port);
    // The announcement of another active port, and of addresses that have moved, cannot wait.
    const bool announces = context_.is_activebackup() || context_.is_by_source();
    const bool could_wait = std::exchange(can_wait_, context_.datapath->link_sight().sees && !announces);
    if (could_wait != can_wait_ && !polled_.empty()) poll_soon();
    if (!late.empty() && !std::exchange(decided_, true)) {
        const auto traced = trace();
        context_.log(Level::debug, traced ? "lost carriers are reported at once, by fentry programs"
                                          : fmt::format("lost carriers are polled every {} ms: {}",
                                                        period().count(), traced.error().text));
    }
    // A port that was reported as not running comes back with an event at once, because its queues restart
    // (qdisc_tx_changing).
    const auto comes_back_with_event = [this](IfIndex port) {
        const auto& link = context_.links().at(port);
        return !link.is_up() || (link.flags & IFF_RUNNING) == 0;
    };
    if (!programs_) std::erase_if(late, comes_back_with_event);
    if (late == followed_ && !again_) return;

    // Nothing has reported what happened to a new port between its last event and now: read it once.
    for (const auto port : late)
        if (!followed_.contains(port)) unread_.insert(port);
    followed_ = late;
    if (programs_) {
        const auto done = programs_->watch(late);
        again_ = !done;
        failure_(context_.log, Level::warning, "a lost carrier may be detected up to 1 s late: ", done);
    } else {
        poll(late);
        again_ = polled_.size() != late.size();
    }
    if (!unread_.empty()) reread_->soon(); // not at once: a pass calls this
}

Result<> CarrierMonitor::trace() {
    // The kernel does not change its mind, and each attempt reads all its types.
    static std::optional<Error> refused;
    if (refused) return tl::unexpected(*refused);
    auto opened = CarrierWatch::open();
    if (!opened && !is_passing(opened.error())) refused = opened.error();
    auto programs = TEAMO_TRY(std::move(opened));
    io_ = TEAMO_TRY(Io::make(context_.loop, programs.fd(), EPOLLIN, Priority::link,
                             [this](std::uint32_t) { report(programs_->receive()); }));
    programs_ = std::move(programs);
    return {};
}

void CarrierMonitor::report(const CarrierWatch::Changes& changes) {
    if (!changes.lost.empty()) context_.observer->lost_carrier(changes.lost);
    if (!changes.back.empty()) context_.observer->reread(changes.back);
}

/// Reads the losses before the changes, and poll_counts() in the other order, so that a loss between the two
/// reads is not missed.
Result<CarrierMonitor::Polled> CarrierMonitor::start_counting(const Link& link) {
    auto count = TEAMO_TRY(CarrierCount::open(link));
    const auto losses = TEAMO_TRY(count.losses());
    const auto changes = TEAMO_TRY(count.changes());
    return Polled{.count = std::move(count), .losses = losses, .changes = changes};
}

void CarrierMonitor::poll(const std::set<IfIndex>& ports) {
    const bool idle = polled_.empty();
    std::erase_if(polled_, [&ports](const auto& entry) { return !ports.contains(entry.first); });
    for (const auto port : ports) {
        if (polled_.contains(port)) continue;
        const auto& link = context_.links().at(port);
        if (auto polled = start_counting(link))
            polled_.emplace(port, std::move(*polled));
        else
            context_.log(Level::debug,
                         fmt::format("port {}: a lost carrier may be detected up to 1 s late: {}", link.name,
                                     polled.error().text));
    }
    if (polled_.empty())
        timer_->stop();
    else if (idle)
        poll_soon();
}

std::chrono::milliseconds CarrierMonitor::period() const { return can_wait_ ? slow_period : poll_period; }

void CarrierMonitor::poll_soon() {
    if (can_wait_)
        timer_->about(context_.shared.pause(slow_period));
    else
        timer_->after(poll_period);
}

void CarrierMonitor::poll_counts() {
    CarrierWatch::Changes seen;
    for (auto& [port, polled] : polled_) {
        const auto changes = polled.count.changes();
        if (!changes || *changes == polled.changes) continue; // the kernel reports a device that is gone
        polled.changes = *changes;
        // Do not conclude a loss from the number of changes: the carrier may have returned while the device
        // was read for its loss, and that change would count as a second loss.
        const auto losses = polled.count.losses();
        const bool went = losses && std::exchange(polled.losses, *losses) != *losses;
        (went ? seen.lost : seen.back).insert(port);
    }
    poll_soon();
    report(seen);
}

} // namespace teamo
