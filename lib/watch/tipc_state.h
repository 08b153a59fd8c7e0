// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "watch/ping_state.h"

namespace teamo {

/// The link watch "tipc": TIPC has a link by the port's bearer.
class TipcState {
public:
    /// As those of PingState.
    explicit TipcState(bool up, Trust trust = Trust::no) : trust_(trust), up_(up), has_links_(up) {}

    void step(bool link, Clock::time_point now);
    void note_role(PingState::Role role, Clock::time_point now);
    void note(bool has_links) { has_links_ = has_links; }

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    Trust trust_;
    bool up_, has_links_;
    bool link_ = false, passes_ = true;
    unsigned tries_ = 0;
    std::uint32_t down_count_ = 0;
    /// While frames pass: until then a missing link does not count, because TIPC needs a moment. While they
    /// do not: of the next try.
    std::optional<Clock::time_point> deadline_;
};

} // namespace teamo
