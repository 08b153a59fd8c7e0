// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/drains.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr auto fresh = 1ms; ///< counters of the queues that are no older are as good as new ones
constexpr auto retry = 1s;

} // namespace

Result<std::unique_ptr<Drains>> Drains::make(TeamContext& context) {
    std::unique_ptr<Drains> drains(new Drains(context));
    drains->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = drains.get()] { self->step(); }));
    return drains;
}

void Drains::follow(std::vector<Port> ports) {
    ports_ = std::move(ports);
    std::erase_if(drains_, [this](const auto& entry) {
        return std::ranges::find(ports_, entry.first, &Port::index) == ports_.end();
    });
    step();
}

void Drains::step() {
    if (ports_.empty()) return timer_->stop();
    const auto counters = context_.datapath->read_counters();
    const bool any_empties = std::ranges::any_of(
        drains_, [](const auto& entry) { return entry.second.phase() == DrainPhase::emptying; });
    const auto queues =
        any_empties ? context_.shared.queues(fresh, ports_) : Result<const ProcessParts::Queues*>(nullptr);
    if (!counters || !queues) return timer_->after(retry); // what cannot be read is not silent
    const auto now = Clock::now();
    auto first = Clock::time_point::max();
    bool changed = false;
    for (auto& port : ports_) {
        auto& drain = drains_.try_emplace(port.index, port.phase).first->second;
        const auto& counted = (*counters)[port.slot.value];
        port.view.sent = counted.tx_packets;
        port.view.received = counted.rx_packets + counted.rx_dropped;
        port.view.backlog = *queues == nullptr ? 0 : (*queues)->of(port.index).backlog;
        const auto before = drain.phase();
        if (drain.step(port.view, now)) {
            changed = true;
            log_change(port, before, drain.phase());
        }
        first = std::min(first, drain.deadline());
    }
    timer_->at(first);
    if (changed) context_.request_pass();
}

void Drains::log_change(const Port& port, DrainPhase before, DrainPhase now) const {
    if (now == DrainPhase::drained)
        context_.log.port(Level::notice, port.name, " carries nothing any more and can be unplugged");
    else if (now == DrainPhase::moving && before > DrainPhase::emptying)
        context_.log.port(Level::warning, port.name, " is drained and carries again: no other port can");
    else if (before == DrainPhase::drained)
        context_.log.port(
            Level::warning, port.name,
            fmt::format(" is drained, and the other end sends to it again: {} frames in a second",
                        received(port.index)));
}

std::optional<DrainPhase> Drains::phase(IfIndex port) const {
    const auto found = drains_.find(port);
    return found == drains_.end() ? std::nullopt : std::optional(found->second.phase());
}

std::uint64_t Drains::received(IfIndex port) const {
    const auto found = drains_.find(port);
    return found == drains_.end() ? 0 : found->second.received_per_second();
}

} // namespace teamo
