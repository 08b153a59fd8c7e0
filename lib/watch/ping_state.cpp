// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/ping_state.h"

#include <algorithm>
#include <utility>

namespace teamo {

std::chrono::milliseconds retry_after(unsigned tries) {
    constexpr std::chrono::seconds first{10}, longest{300};
    return growing_pause(first, tries, longest);
}

/// How long an answer may take before it counts as missing. missed_max + 1 of these, after the interval in
/// which the target died, are interval * (missed_max + 1), less a twentieth for the way through the kernel.
std::chrono::milliseconds PingState::patience() const {
    const auto& [interval, init_wait, missed_max] = timing_;
    // Others send when they like.
    if (!role_.sends) return interval * 5 / 4;
    if (!up_ || answered_) return interval;
    const double most = std::max(missed_max, 1U); // not an integer: the product can be large
    return std::max(std::chrono::milliseconds(static_cast<std::int64_t>(
                        static_cast<double>(interval.count()) * most * 19 / ((most + 1) * 20))),
                    std::chrono::milliseconds(1));
}

void PingState::begin_period(Clock::time_point now) {
    period_ = now;
    answered_ = unsent_ = false;
    due_ = role_.sends;
    deadline_ = now + patience();
}

void PingState::set_down() {
    if (!up_) return;
    up_ = false;
    ++down_count_;
}

void PingState::begin_wait(Clock::time_point now) {
    due_ = answered_ = false;
    deadline_ = up_ ? std::nullopt : std::optional(now + retry_after(tries_++));
}

void PingState::note_answer() {
    if (!started_ || !role_.passes) return;
    answered_ = up_ = true;
    missed_ = tries_ = 0;
    deadline_ = period_ + timing_.interval;
}

void PingState::note_unsent(Clock::time_point now) {
    constexpr std::chrono::milliseconds soon{200};
    if (!started_ || !role_.passes) return;
    unsent_ = true;
    deadline_ = now + std::min(timing_.interval, soon);
}

void PingState::note_role(Role role, Clock::time_point now) {
    const auto was = std::exchange(role_, role);
    due_ = due_ && role.sends; // a port that does not carry any more is silent at once
    if (!started_ || role == was) return;
    if (!role.passes)
        begin_wait(now);
    else if (!was.passes || (role.sends && !was.sends))
        begin_period(now); // at once: perhaps no other port carries any more
}

void PingState::step(bool link, Clock::time_point now) {
    if (!link) {
        set_down();
        deadline_.reset();
        link_ = started_ = due_ = answered_ = false;
        if (trust_ == Trust::next_link) trust_ = Trust::yes;
        missed_ = 0;
        return;
    }
    // A port that carries already, or whose link has returned, does not wait.
    const auto wait = up_ || down_count_ > 0 ? std::chrono::milliseconds(0) : timing_.init_wait;
    if (!std::exchange(link_, true)) {
        deadline_ = now + wait;
        up_ = up_ || trust_ == Trust::yes;
    }
    if (!deadline_ || now < *deadline_) return;
    if (!std::exchange(started_, true)) {
        if (role_.passes)
            begin_period(now);
        else
            begin_wait(now);
    } else if (role_.passes) {
        if (!answered_ && !unsent_ && ++missed_ > timing_.missed_max) set_down();
        begin_period(now);
    } else {
        up_ = true; // tried again
        missed_ = 0;
        deadline_.reset();
    }
}

bool PingState::take_due() { return std::exchange(due_, false); }

} // namespace teamo
