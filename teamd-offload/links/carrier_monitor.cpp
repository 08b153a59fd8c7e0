// SPDX-License-Identifier: LGPL-2.1-or-later
#include "links/carrier_monitor.h"

#include <linux/if.h>
#include <sys/epoll.h>

namespace teamo {
namespace {

// What a lost link costs at most, against a hundred wakings a second.
constexpr std::chrono::milliseconds period{10};

} // namespace

Result<std::unique_ptr<CarrierMonitor>> CarrierMonitor::make(sd_event* loop, const Log& log,
                                                             Observer& observer) {
    std::unique_ptr<CarrierMonitor> news(new CarrierMonitor(loop, log, observer));
    auto timer = Timer::make(loop, [self = news.get()] { self->ask(); });
    if (!timer) return tl::unexpected(timer.error());
    news->timer_.emplace(std::move(*timer));
    auto look = Deferred::make(loop, Priority::link, [self = news.get()] {
        self->observer_.read_anew(std::exchange(self->fresh_, {}));
    });
    if (!look) return tl::unexpected(look.error());
    news->look_.emplace(std::move(*look));
    return news;
}

void CarrierMonitor::follow(const std::set<IfIndex>& ports) {
    std::set<IfIndex> late;
    for (const auto port : ports)
        if (const auto* link = find_link(observer_.links(), port); link != nullptr && news_are_late(*link))
            late.insert(port);
    if (!late.empty() && !decided_) trace();
    if (!programs_) std::erase_if(late, [this](IfIndex port) { return !can_lose_carrier_unseen(port); });
    if (late == followed_) return;

    // What happened to a port between the last that was heard of it and now is nobody's news.
    for (const auto port : late)
        if (!followed_.contains(port)) fresh_.insert(port);
    followed_ = late;
    if (!programs_)
        poll(late);
    else if (const auto done = programs_->watch(late); !done)
        log_(Level::warning, fmt::format("lost carriers are seen late: {}", done.error().text));
    if (!fresh_.empty()) look_->soon(); // not at once: this is called out of a pass
}

void CarrierMonitor::trace() {
    decided_ = true;
    auto programs = CarrierWatch::open();
    if (programs) {
        auto io =
            Io::make(loop_, programs->fd(), EPOLLIN, Priority::link, [this](std::uint32_t) { receive(); });
        if (io) {
            programs_.emplace(std::move(*programs));
            io_.emplace(std::move(*io));
            log_(Level::debug, "lost carriers are told by programs on the kernel's functions");
            return;
        }
        programs = tl::unexpected(io.error());
    }
    log_(Level::debug,
         fmt::format("lost carriers are asked for every {} ms: {}", period.count(), programs.error().text));
}

void CarrierMonitor::receive() {
    const auto changes = programs_->receive();
    if (!changes.lost.empty()) observer_.lost_carrier(changes.lost);
    if (!changes.back.empty()) observer_.read_anew(changes.back);
}

/// Up, and in operation as far as the kernel has told. A port that it has told to be out of operation comes
/// back with news at once: its queues start anew (qdisc_tx_changing).
bool CarrierMonitor::can_lose_carrier_unseen(IfIndex port) const {
    constexpr std::uint32_t both = IFF_UP | IFF_RUNNING;
    const auto* link = find_link(observer_.links(), port);
    return link != nullptr && (link->flags & both) == both;
}

/// The losses before the changes, and later the other way round: one that comes between the two is seen.
Result<CarrierMonitor::Polled> CarrierMonitor::start_counting(const Link& link) {
    auto count = CarrierCount::open(link);
    if (!count) return tl::unexpected(count.error());
    const auto losses = count->losses();
    if (!losses) return tl::unexpected(losses.error());
    const auto changes = count->changes();
    if (!changes) return tl::unexpected(changes.error());
    return Polled{.count = std::move(*count), .losses = *losses, .changes = *changes};
}

void CarrierMonitor::poll(const std::set<IfIndex>& ports) {
    const bool idle = polled_.empty();
    std::erase_if(polled_, [&ports](const auto& entry) { return !ports.contains(entry.first); });
    for (const auto port : ports) {
        if (polled_.contains(port)) continue;
        const auto& link = observer_.links().at(port);
        auto polled = start_counting(link);
        if (polled)
            polled_.emplace(port, std::move(*polled));
        else
            log_(Level::debug,
                 fmt::format("port {}: its lost carrier is seen late: {}", link.name, polled.error().text));
    }
    if (polled_.empty())
        timer_->stop();
    else if (idle)
        timer_->after(period);
}

void CarrierMonitor::ask() {
    std::set<IfIndex> lost, back;
    for (auto& [port, polled] : polled_) {
        const auto changes = polled.count.changes();
        if (!changes || *changes == polled.changes) continue; // a device that is gone says so itself
        polled.changes = *changes;
        // What changed is asked and not concluded: the return may have been seen already, when the device was
        // read for its loss, and would count as a second one.
        const auto losses = polled.count.losses();
        const bool went = losses && std::exchange(polled.losses, *losses) != *losses;
        (went ? lost : back).insert(port);
    }
    timer_->after(period);
    if (!lost.empty()) observer_.lost_carrier(lost);
    if (!back.empty()) observer_.read_anew(back);
}

} // namespace teamo
