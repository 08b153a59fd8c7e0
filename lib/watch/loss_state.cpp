// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/loss_state.h"

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds longest_wait = 1h;
/// After a port was taken out: before that its queues and its flows' retransmissions still drain, and later
/// the flows may have changed.
constexpr auto settle = 2s, suspicion = 30s;
constexpr auto excuse = 10min; ///< how long the flows of an innocent port may lose packets

} // namespace

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
