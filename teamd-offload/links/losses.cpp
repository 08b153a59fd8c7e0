// SPDX-License-Identifier: LGPL-2.1-or-later
#include "links/losses.h"

#include "kernel/netlink/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace teamo {
namespace {

/// How much a team tolerates, if its ports differ: as much as the strictest.
unsigned max_loss_of(const TeamConfig& config) {
    unsigned least = LossWatch{}.max_loss;
    const auto look = [&least](const std::vector<LinkWatch>& watches) {
        for (const auto& watch : watches)
            if (const auto* loss = std::get_if<LossWatch>(&watch)) least = std::min(least, loss->max_loss);
    };
    look(config.link_watches);
    for (const auto& [name, port] : config.ports)
        look(port.link_watches);
    return least;
}

} // namespace

Result<std::unique_ptr<Losses>> Losses::make(sd_event* loop, TeamContext& context,
                                             std::function<void()> request_pass) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    std::unique_ptr<Losses> losses(new Losses(context, std::move(request_pass), std::move(socket)));
    losses->detector_ = LossDetector(max_loss_of(context.config()));
    losses->timer_ = TEAMO_TRY(Timer::make(loop, [self = losses.get()] { self->look(); }));
    return losses;
}

void Losses::follow(std::vector<Port> ports, const Tables& tables) {
    mode_ = tables.mode;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        owners_[bucket] = leaves_by(tables, bucket);
    std::erase_if(known_, [&](const auto& entry) {
        return std::ranges::find(ports, entry.first, &Port::index) == ports.end();
    });
    for (const auto& port : ports) {
        const auto [entry, is_new] = known_.try_emplace(port.index);
        auto& known = entry->second;
        if (is_new) detector_.forget(port.index); // it was a port before, a moment ago
        if (!port.watch)
            known.state.reset();
        else if (!known.state || known.state->watch() != *port.watch)
            known.state.emplace(*port.watch);
    }
    if (ports_.empty() && !ports.empty()) timer_->after(LossDetector::tick);
    ports_ = std::move(ports);
    if (ports_.empty()) timer_->stop();
}

/// None: they are not counted. With the team driver counting needs a program of ours on the team's device, so
/// it is done only for the watch.
std::optional<AllBucketCounters> Losses::read_buckets() {
    const auto carrying = std::ranges::count_if(ports_, &Port::carries);
    const bool is_watched =
        std::ranges::any_of(ports_, [](const Port& port) { return port.watch.has_value(); });
    const bool is_free = context_.datapath->moves_in_gaps() || context_.config().balance.on;
    if (mode_ != TransmitMode::hash || carrying < 2 || !(is_watched || is_free)) return std::nullopt;
    auto counters = context_.datapath->read_buckets();
    return counters ? std::optional(*counters) : std::nullopt;
}

/// `queues`: reads what the ports' own queues have dropped; otherwise as last read.
std::vector<LossSample> Losses::read_ports(bool queues) {
    if (queues)
        if (const auto read = read_queues(socket_))
            for (const auto& [port, queue] : *read)
                dropped_[port] = queue.dropped;
    std::vector<LossSample> samples;
    for (const auto& port : ports_) {
        const auto errors = read_link_errors(socket_, port.index);
        if (!errors) continue; // gone: the next pass knows it
        samples.push_back({.port = port.index,
                           .slot = port.slot,
                           .carries = port.carries,
                           .errors = *errors,
                           .carrier_losses = port.carrier_losses,
                           .queue_dropped = dropped_[port.index]});
    }
    return samples;
}

void Losses::look() {
    timer_->after(LossDetector::tick);
    const auto now = Clock::now();
    const auto counters = read_buckets();
    const auto again = counters ? std::accumulate(counters->begin(), counters->end(), std::uint64_t{0},
                                                  [](std::uint64_t sum, const BucketCounters& bucket) {
                                                      return sum + bucket.tcp_again;
                                                  })
                                : 0;
    const auto samples = read_ports(/*queues=*/again != std::exchange(again_, again));
    detector_.step(samples, counters ? &*counters : nullptr, owners_, now);
    for (const auto& port : ports_)
        judge(port, now);
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
        const auto say = [&](Level level, const std::string& what) {
            context_.log(level, fmt::format("port {} {}", port.name, what), message_id::none,
                         {{"PORT", port.name}});
        };
        switch (
            known.state->step(evidence, suspects.empty() ? std::nullopt : detector_.lost_by(suspects), now)) {
        case LossState::Change::none: break;
        case LossState::Change::taken_out:
            say(Level::warning,
                fmt::format("is used only while no other port can (link watch loss); tried again in {} s",
                            std::chrono::ceil<std::chrono::seconds>(*known.state->next_try() - now).count()));
            break;
        case LossState::Change::tried_again:
            detector_.forget(port.index);
            say(Level::notice, "is tried again (link watch loss)");
            break;
        case LossState::Change::excused:
            detector_.forget(port.index);
            say(Level::notice, "is used again: its flows lose packets at other ports too");
            break;
        }
        is_out = known.state->is_out();
    }
    if (std::exchange(known.is_out, is_out) != is_out) request_pass_();
}

/// Once for each kind of evidence: its numbers change all the time.
void Losses::log_finding(const Port& port) {
    const auto* finding = detector_.finding(port.index);
    auto& logged = known_[port.index].logged;
    const std::string kind = finding == nullptr ? "" : finding->what.substr(0, finding->what.find(' '));
    if (kind == logged) return;
    logged = kind;
    if (finding != nullptr)
        context_.log(Level::warning, fmt::format("port {}: {}", port.name, finding->what), message_id::none,
                     {{"PORT", port.name}});
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
