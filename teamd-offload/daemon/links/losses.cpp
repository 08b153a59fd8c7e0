// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/losses.h"

#include "kernel/netlink/counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo {
namespace {

/// Of the ports' own counters, which a request for each port reads; the second while nothing is sent.
constexpr std::chrono::seconds errors_interval{1}, rest_interval{5};

} // namespace

Result<std::unique_ptr<Losses>> Losses::make(TeamContext& context) {
    std::unique_ptr<Losses> losses(new Losses(context));
    losses->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = losses.get()] { self->look(); }));
    return losses;
}

void Losses::follow(std::vector<Port> ports, const Tables& tables) {
    is_by_flow_ = leaves_by_bucket(tables.mode, tables.hash_fields);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        owners_[bucket] = leaves_by(tables, bucket);
    std::erase_if(known_, [&](const auto& entry) {
        return std::ranges::find(ports, entry.first, &Port::index) == ports.end();
    });
    for (const auto& port : ports) {
        const auto [entry, is_new] = known_.try_emplace(port.index);
        auto& known = entry->second;
        if (is_new) { // it may have been a port a moment ago, or another device
            detector_.forget(port.index);
            errors_.erase(port.index);
            dropped_.erase(port.index);
            errors_read_ = {};
        }
        if (!port.watch)
            known.state.reset();
        else if (!known.state || known.state->watch() != *port.watch)
            known.state.emplace(*port.watch);
    }
    ports_ = std::move(ports);
}

/// None: they are not counted. With the team driver counting needs a program of ours on the team's device, so
/// it is done only for the watch.
std::optional<AllBucketCounters> Losses::read_buckets() {
    const auto carrying = std::ranges::count_if(ports_, &Port::carries);
    const bool is_free = context_.datapath->moves_in_gaps() || context_.config().balance.on;
    if (!is_by_flow_ || carrying < 2 || !(is_watched() || is_free)) return std::nullopt;
    auto counters = context_.datapath->read_buckets();
    if (counters) {
        failure_.clear();
        return *counters;
    }
    if (is_watched() && counters.error().number != EAGAIN)
        failure_(context_.log, Level::warning,
                 "link watch loss: segments that are sent again are not counted: ", counters.error().text);
    return std::nullopt;
}

bool Losses::errors_are_due(Clock::time_point now) const {
    // The timers are not exact.
    return now >= errors_read_ + (sending_ ? errors_interval : rest_interval) - LossDetector::tick;
}

void Losses::read_errors(Clock::time_point now) {
    if (!errors_are_due(now)) return;
    errors_read_ = now;
    std::erase_if(errors_, [&](const auto& entry) { return !known_.contains(entry.first); });
    for (const auto& port : ports_)
        if (const auto errors = read_link_errors(context_.shared.requests, port.index))
            errors_[port.index] = *errors;
}

void Losses::read_drops() {
    const auto queues = context_.shared.queues(LossDetector::tick / 2, ports_);
    if (!queues) return;
    dropped_.clear();
    for (const auto& port : ports_)
        dropped_[port.index] = (*queues)->of(port.index).dropped;
}

std::vector<LossSample> Losses::samples() const {
    std::vector<LossSample> list;
    for (const auto& port : ports_) {
        const auto errors = errors_.find(port.index);
        if (errors == errors_.end()) continue; // gone: the next pass knows it
        const auto dropped = dropped_.find(port.index);
        list.push_back({.port = port.index,
                        .slot = port.slot,
                        .carries = port.carries,
                        .errors = errors->second,
                        .carrier_losses = port.carrier_losses,
                        .queue_dropped = dropped == dropped_.end() ? 0 : dropped->second,
                        .max_loss = port.watch.value_or(LossWatch{}).max_loss});
    }
    return list;
}

void Losses::look() {
    const auto now = Clock::now();
    const bool rests = !sending_ && !is_busy_ && !is_watched();
    const auto counters = rests ? std::nullopt : read_buckets();
    if (!rests && !counters) detector_.forget_counters();
    auto sent = sent_, again = again_;
    if (counters) {
        sent = again = 0;
        for (const auto& bucket : *counters) {
            sent += bucket.tcp_segments;
            again += bucket.tcp_again;
        }
    }
    // Without traffic the daemon sleeps.
    is_busy_ = sent != std::exchange(sent_, sent);
    if (is_busy_)
        timer_->after(LossDetector::tick);
    else
        timer_->stop();
    read_errors(now);
    // What a new port dropped before is no rise.
    const bool any_new =
        std::ranges::any_of(ports_, [this](const Port& port) { return !dropped_.contains(port.index); });
    if (again != std::exchange(again_, again) || any_new) read_drops();
    detector_.step(samples(), counters ? &*counters : nullptr, owners_, now);
    for (const auto& port : ports_)
        judge(port, now);
}

void Losses::poll(bool sending) {
    sending_ = sending;
    if (!is_busy_ && (sending || is_watched() || errors_are_due(Clock::now()))) look();
}

bool Losses::is_watched() const {
    return std::ranges::any_of(ports_, [](const Port& port) { return port.watch.has_value(); });
}

void Losses::judge(const Port& port, Clock::time_point now) {
    log_finding(port);
    auto& known = known_[port.index];
    bool is_out = false;
    if (known.state) {
        const auto* finding = detector_.finding(port.index);
        std::optional<LossState::Evidence> evidence;
        if (finding != nullptr && finding->helps && port.carries)
            evidence = {.by_flows = finding->by_flows, .lost = finding->lost, .buckets = finding->buckets};
        const auto& suspects = known.state->suspects();
        switch (
            known.state->step(evidence, suspects.empty() ? std::nullopt : detector_.lost_by(suspects), now)) {
        case LossState::Change::none: break;
        case LossState::Change::taken_out:
            context_.log.port(
                Level::warning, port.name,
                fmt::format(" is used only while no other port can (link watch loss); tried again in {} s",
                            std::chrono::ceil<std::chrono::seconds>(*known.state->next_try() - now).count()));
            break;
        case LossState::Change::tried_again:
            detector_.forget(port.index);
            context_.log.port(Level::notice, port.name, " is tried again (link watch loss)");
            break;
        case LossState::Change::excused:
            detector_.forget(port.index);
            context_.log.port(Level::notice, port.name,
                              " is used again: its flows lose packets at other ports too");
            break;
        }
        is_out = known.state->is_out();
    }
    if (std::exchange(known.is_out, is_out) != is_out) context_.request_pass();
}

/// Once for each kind of evidence: its numbers change all the time.
void Losses::log_finding(const Port& port) {
    const auto* finding = detector_.finding(port.index);
    auto& logged = known_[port.index].logged;
    const std::string kind = finding == nullptr ? "" : finding->what.substr(0, finding->what.find(' '));
    if (kind == logged) return;
    logged = kind;
    if (finding != nullptr) context_.log.port(Level::warning, port.name, ": " + finding->what);
}

bool Losses::is_last(IfIndex port) const {
    const auto known = known_.find(port);
    return known != known_.end() && known->second.is_out;
}

LossStatus Losses::status(IfIndex port) const {
    const auto known = known_.find(port);
    if (known == known_.end()) return {};
    LossStatus status;
    if (const auto* finding = detector_.finding(port)) status.what = finding->what;
    status.lost = detector_.lost_by(port);
    const auto& state = known->second.state;
    status.watched = state.has_value();
    status.is_out = state && state->is_out();
    if (const auto next = state ? state->next_try() : std::nullopt)
        status.next_try = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
    return status;
}

} // namespace teamo
