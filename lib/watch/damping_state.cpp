// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/damping_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace teamo {
namespace {

constexpr double most_penalty = 4e9; // it is kept in 32 bits
using Milliseconds = std::chrono::duration<double, std::milli>;

Clock::time_point at(std::int64_t milliseconds) {
    return Clock::time_point(std::chrono::milliseconds(milliseconds));
}

std::int64_t milliseconds_of(Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

} // namespace

Damping::Damping(DampingConfig config, const DampingMemory& memory)
    : config_(config), penalty_(memory.penalty), changed_(at(memory.changed)) {
    if (memory.suppressed_since) since_ = at(*memory.suppressed_since);
    announced_ = since_.has_value();
}

double Damping::penalty(Clock::time_point now) const {
    const auto time = std::max(Milliseconds(now - changed_), Milliseconds(0));
    return penalty_ * std::exp2(-(time / Milliseconds(config_.half_life)));
}

void Damping::note_loss(Clock::time_point now) {
    // RFC 2439, 4.2: no more than decays within the longest time.
    const auto halvings = Milliseconds(config_.max_suppress) / Milliseconds(config_.half_life);
    const auto ceiling = std::min(config_.reuse * std::exp2(halvings), most_penalty);
    penalty_ = std::min(penalty(now) + config_.penalty, std::max<double>(ceiling, config_.suppress + 1.0));
    changed_ = now;
    if (!since_ && penalty_ > config_.suppress) since_ = now;
}

std::optional<Clock::time_point> Damping::deadline() const {
    if (!since_) return std::nullopt;
    const auto halvings = std::max(std::log2(penalty_ / config_.reuse), 0.0);
    const auto time =
        std::min(Milliseconds(config_.half_life) * halvings, Milliseconds(config_.max_suppress));
    return changed_ + std::chrono::ceil<Clock::duration>(time);
}

Damping::Change Damping::step(Clock::time_point now) {
    if (!since_) return Change::none;
    if (now < *deadline()) return std::exchange(announced_, true) ? Change::none : Change::suppressed;
    penalty_ = std::min<double>(penalty(now), config_.reuse);
    changed_ = now;
    lasted_ = now - *since_;
    since_.reset();
    announced_ = false;
    return Change::reused;
}

void Damping::change(const DampingConfig& config) { config_ = config; }

DampingStatus Damping::status(Clock::time_point now) const {
    DampingStatus status{.penalty = static_cast<std::uint32_t>(std::lround(penalty(now))),
                         .suppressed = is_suppressed()};
    if (const auto end = deadline())
        status.until_reuse =
            std::max(std::chrono::ceil<std::chrono::milliseconds>(*end - now), std::chrono::milliseconds(0));
    return status;
}

DampingMemory Damping::memory() const {
    DampingMemory memory{.penalty = static_cast<std::uint32_t>(std::lround(penalty_)),
                         .changed = milliseconds_of(changed_)};
    if (since_) memory.suppressed_since = milliseconds_of(*since_);
    return memory;
}

} // namespace teamo
