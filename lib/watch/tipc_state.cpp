// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/tipc_state.h"

#include <utility>

namespace teamo {

/// TIPC finds its neighbours within a second or two.
constexpr std::chrono::seconds settle_time{3};

void TipcState::note_role(PingState::Role role, Clock::time_point now) {
    if (std::exchange(passes_, role.passes) == role.passes || !link_) return;
    if (passes_)
        deadline_ = now + settle_time;
    else
        deadline_ = up_ ? std::nullopt : std::optional(now + retry_after(tries_++));
}

void TipcState::step(bool link, Clock::time_point now) {
    if (!link) {
        if (up_) ++down_count_;
        link_ = up_ = false;
        if (trust_ == Trust::next_link) trust_ = Trust::yes;
        return deadline_.reset();
    }
    if (!std::exchange(link_, true) && trust_ == Trust::yes) {
        up_ = true;
        deadline_ = now + settle_time;
    }
    const bool is_over = deadline_ && now >= *deadline_;
    if (is_over) deadline_.reset();
    if (!passes_) {
        up_ = up_ || is_over; // tried again
    } else if (has_links_) {
        up_ = true;
        tries_ = 0;
        deadline_.reset();
    } else if (up_ && !deadline_) {
        up_ = false;
        ++down_count_;
    }
}

} // namespace teamo
