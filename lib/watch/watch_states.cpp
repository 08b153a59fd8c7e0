// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch_states.h"

#include <algorithm>
#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// How long a port that LACP has left, because a watch was down, waits before it is tried again.
std::chrono::milliseconds retry_after(unsigned tries) { return growing_pause(10s, tries, 5min); }

/// TIPC finds its neighbours within a second or two.
constexpr auto settle_time = 3s;

// The watch "loss".
constexpr std::chrono::milliseconds longest_wait = 1h;
/// After a port was taken out: before that its queues and its flows' retransmissions still drain, and later
/// the flows may have changed.
constexpr auto settle = 2s, suspicion = 30s;
constexpr auto excuse = 10min; ///< how long the flows of an innocent port may lose packets

} // namespace

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

void EthtoolState::end_delay_up() {
    if (up_ || !deadline_) return;
    deadline_.reset();
    up_ = true;
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

LossState::Change LossState::step(const std::optional<Evidence>& evidence,
                                  std::optional<double> lost_elsewhere, Clock::time_point now) {
    if (out_) {
        const auto time = now - since_;
        if (!suspects_.empty() && time >= settle && time < suspicion && lost_elsewhere &&
            *lost_elsewhere >= lost_ / 2) {
            out_ = false;
            since_ = now;
            excused_until_ = now + excuse;
            return Change::excused;
        }
        if (now < until_) return Change::none;
        out_ = false;
        since_ = now;
        return Change::tried_again;
    }
    const auto wait = [this] { return growing_pause(watch_.retry, tries_, longest_wait); };
    if (tries_ > 0 && now - since_ >= 2 * wait()) tries_ = 0;
    if (!evidence || (evidence->by_flows && now < excused_until_)) return Change::none;
    out_ = true;
    since_ = now;
    until_ = now + wait();
    ++tries_;
    suspects_ = evidence->by_flows ? evidence->buckets : std::vector<std::uint8_t>{};
    lost_ = evidence->lost;
    return Change::taken_out;
}

} // namespace teamo
