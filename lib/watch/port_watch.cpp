// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/port_watch.h"

#include "base/match.h"

#include <algorithm>

namespace teamo {
namespace {

bool is_up(const auto& state) {
    return std::visit([](const auto& one) { return one.up(); }, state);
}

/// By the policy, of the states that `counts`; none: no state counts.
std::optional<bool> combined(const auto& states, LinkWatchPolicy policy, auto counts) {
    std::optional<bool> result;
    for (const auto& state : states) {
        if (!counts(state)) continue;
        const bool up = is_up(state);
        if (!result)
            result = up;
        else
            result = policy == LinkWatchPolicy::any ? *result || up : *result && up;
    }
    return result;
}

std::vector<LinkWatch> without_loss(std::vector<LinkWatch> watches) {
    std::erase_if(watches, [](const LinkWatch& watch) { return std::holds_alternative<LossWatch>(watch); });
    if (watches.empty()) watches.emplace_back(EthtoolWatch{});
    return watches;
}

} // namespace

std::optional<PingState::Timing> timing_of(const LinkWatch& watch) {
    constexpr std::chrono::milliseconds shortest{10};
    const auto timing = [shortest](const auto& ping) {
        return std::optional(
            PingState::Timing{std::max(ping.interval, shortest), ping.init_wait, ping.missed_max});
    };
    return std::visit(Match{[&](const ArpPingWatch& arp) { return timing(arp); },
                            [&](const NsnaPingWatch& nsna) { return timing(nsna); },
                            [](const auto&) { return std::optional<PingState::Timing>(); }},
                      watch);
}

double probes_per_second(std::span<const LinkWatch> watches) {
    double sum = 0;
    for (const auto& watch : watches)
        if (const auto timing = timing_of(watch))
            sum += 1 / std::chrono::duration<double>(timing->interval).count();
    return sum;
}

PortWatch::PortWatch(std::vector<LinkWatch> watches, LinkWatchPolicy policy, Start start)
    : watches_(without_loss(std::move(watches))),
      policy_(policy),
      link_(start.up),
      losses_(start.losses),
      seen_(start.unanswered ? never_up : start.losses) {
    const bool distrusts = start.unanswered && !start.other_watches;
    const auto trust = !start.trusted ? Trust::no : distrusts ? Trust::next_link : Trust::yes;
    for (const auto& watch : watches_) {
        if (const auto* ethtool = std::get_if<EthtoolWatch>(&watch))
            states_.emplace_back(EthtoolState(*ethtool, start.up));
        else if (const auto timing = timing_of(watch))
            states_.emplace_back(PingState(*timing, start.up && !start.unanswered, trust));
        else
            states_.emplace_back(TipcState(start.up && !start.unanswered, trust));
    }
}

void PortWatch::step(bool link, std::uint32_t losses, Clock::time_point now) {
    const bool was_up = up();
    const bool bounced = link && link_ && seen_ != never_up && losses != seen_;
    const auto step_all = [&](bool has_link) {
        for (auto& state : states_)
            std::visit([&](auto& one) { one.step(has_link, now); }, state);
    };
    has_lost_ = false;
    if (bounced) {
        const auto before = states_;
        step_all(false);
        has_lost_ = was_up && !up();
        if (!waits()) states_ = before; // without a delay such a loss is over already
    }
    step_all(link);
    link_ = link;
    has_lost_ = has_lost_ || (was_up && !up());
    if (link) seen_ = losses;
    if (link && up()) losses_ = losses;
}

void PortWatch::end_delay_up() {
    for (auto& state : states_)
        if (auto* ethtool = std::get_if<EthtoolState>(&state)) ethtool->end_delay_up();
    if (link_ && up()) losses_ = seen_;
}

void PortWatch::note_role(PingState::Role role, Clock::time_point now) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const auto* arp = std::get_if<ArpPingWatch>(&watches_[i]);
        auto own = role;
        own.sends |= arp != nullptr && arp->send_always;
        std::visit(Match{[](EthtoolState&) {}, [&](auto& one) { one.note_role(own, now); }}, states_[i]);
    }
}

void PortWatch::note_answer(std::size_t watch) {
    if (watch < states_.size())
        if (auto* ping = std::get_if<PingState>(&states_[watch])) ping->note_answer();
}

void PortWatch::note_tipc(std::size_t watch, bool has_links) {
    if (watch < states_.size())
        if (auto* tipc = std::get_if<TipcState>(&states_[watch])) tipc->note(has_links);
}

std::vector<std::size_t> PortWatch::take_due() {
    std::vector<std::size_t> due;
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (auto* ping = std::get_if<PingState>(&states_[i]); ping != nullptr && ping->take_due())
            due.push_back(i);
    return due;
}

void PortWatch::note_unsent(std::size_t watch, Clock::time_point now) {
    if (watch < states_.size())
        if (auto* ping = std::get_if<PingState>(&states_[watch])) ping->note_unsent(now);
}

bool PortWatch::is_answered(std::size_t watch) const {
    const auto* ping = watch < states_.size() ? std::get_if<PingState>(&states_[watch]) : nullptr;
    return ping != nullptr && ping->is_answered();
}

bool PortWatch::up() const {
    return combined(states_, policy_, [](const State&) { return true; }).value_or(link_);
}

bool PortWatch::has_link() const {
    return combined(states_, policy_,
                    [](const State& state) { return std::holds_alternative<EthtoolState>(state); })
        .value_or(link_);
}

bool PortWatch::waits() const {
    const auto delays = [](const State& state) {
        const auto* ethtool = std::get_if<EthtoolState>(&state);
        return ethtool == nullptr || ethtool->watch().delay_up.count() > 0;
    };
    return policy_ == LinkWatchPolicy::any ? !states_.empty() && std::ranges::all_of(states_, delays)
                                           : std::ranges::any_of(states_, delays);
}

std::optional<Clock::time_point> PortWatch::deadline() const {
    std::optional<Clock::time_point> soonest;
    for (const auto& state : states_)
        soonest = earlier(soonest, std::visit([](const auto& one) { return one.deadline(); }, state));
    return soonest;
}

std::vector<WatchStatus> PortWatch::status() const {
    std::vector<WatchStatus> list;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const auto* ping = std::get_if<PingState>(&states_[i]);
        list.push_back(
            {.watch = watches_[i],
             .up = is_up(states_[i]),
             .down_count = std::visit([](const auto& one) { return one.down_count(); }, states_[i]),
             .missed = ping == nullptr ? 0 : ping->missed()});
    }
    return list;
}

} // namespace teamo
