// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/port_watch.h"

#include <algorithm>
#include <array>

namespace teamo {

void EthtoolState::step(bool link, Clock::time_point now) {
    if (link == up_) {
        deadline_.reset();
        return;
    }
    const auto delay = link ? watch_.delay_up : watch_.delay_down;
    if (!deadline_) deadline_ = now + delay;
    if (now < *deadline_) return;
    deadline_.reset();
    up_ = link;
    if (!link) ++down_count_;
}

PortWatch::PortWatch(const std::vector<LinkWatch>& watches, LinkWatchPolicy policy, bool up,
                     std::uint32_t losses)
    : policy_(policy), losses_(losses) {
    for (const auto& watch : watches)
        if (const auto* ethtool = std::get_if<EthtoolWatch>(&watch)) states_.emplace_back(*ethtool, up);
}

void PortWatch::step(bool link, std::uint32_t losses, Clock::time_point now) {
    // Without a delay such a loss is over already.
    const bool bounced = link && up() && losses != losses_ && waits();
    for (auto& state : states_) {
        if (bounced) state.step(false, now);
        state.step(link, now);
    }
    if (link && up()) losses_ = losses;
}

bool PortWatch::up() const {
    return policy_ == LinkWatchPolicy::any ? std::ranges::any_of(states_, &EthtoolState::up)
                                           : std::ranges::all_of(states_, &EthtoolState::up);
}

bool PortWatch::waits() const {
    const auto delays = [](const EthtoolState& state) { return state.watch().delay_up.count() > 0; };
    return policy_ == LinkWatchPolicy::any ? !states_.empty() && std::ranges::all_of(states_, delays)
                                           : std::ranges::any_of(states_, delays);
}

std::optional<Clock::time_point> PortWatch::deadline() const {
    std::optional<Clock::time_point> soonest;
    for (const auto& state : states_)
        if (const auto here = state.deadline(); here && (!soonest || *here < *soonest)) soonest = here;
    return soonest;
}

std::vector<WatchStatus> PortWatch::status() const {
    std::vector<WatchStatus> list;
    for (const auto& state : states_)
        list.push_back({.watch = state.watch(), .up = state.up(), .down_count = state.down_count()});
    return list;
}

std::string_view unsupported_watch(const std::vector<LinkWatch>& watches) {
    for (const auto& watch : watches)
        if (!std::holds_alternative<EthtoolWatch>(watch)) return link_watch_names[watch.index()];
    return {};
}

} // namespace teamo
