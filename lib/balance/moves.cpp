// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/moves.h"

namespace teamo {
namespace {

double gain_of(const Moves::Waiting& waiting) {
    return waiting.other_has_moved ? waiting.move.swap->gain_after_other : waiting.move.gain;
}

/// Whether to move without a gap. By hand never: the administrator can request "now".
bool worth_it(const Moves::Waiting& waiting, const BalanceConfig& config) {
    if (waiting.move.reason == MoveReason::membership) return true;
    return waiting.move.reason != MoveReason::by_hand && gain_of(waiting) * 100 >= config.min_gain;
}

std::optional<MoveEnd> end_of(Moves::Waiting& waiting, Moves::Time now, SlotSet live,
                              std::chrono::nanoseconds drain, const BalanceConfig& config,
                              const Moves::Seen& seen) {
    if (seen.moved) return MoveEnd::in_gap;
    if ((live & bit(waiting.move.from)) == 0) return MoveEnd::forced;
    if (!seen.packets || waiting.packets != seen.packets) {
        waiting.packets = seen.packets;
        waiting.quiet_since = now;
    } else if (now - waiting.quiet_since >= drain) {
        return MoveEnd::in_gap;
    }
    const bool is_over = now - waiting.since >= config.max_wait;
    if ((is_over || waiting.other_has_moved) && worth_it(waiting, config)) return MoveEnd::forced;
    return is_over ? std::optional(MoveEnd::given_up) : std::nullopt;
}

} // namespace

void Moves::begin(const BucketMove& move, Time now) {
    auto begun = move;
    if (const auto found = waiting_.find(move.bucket); found != waiting_.end())
        begun.from = found->second.move.from; // where it still is
    if (begun.from == begun.to)
        waiting_.erase(move.bucket);
    else
        waiting_.insert_or_assign(move.bucket,
                                  Waiting{.move = begun, .since = now, .quiet_since = now, .packets = {}});
}

std::vector<Moves::Ended> Moves::step(Time now, SlotSet live, const Drains& drains,
                                      const BalanceConfig& config,
                                      const std::function<Seen(std::uint8_t bucket)>& observe) {
    std::vector<Ended> ended;
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
        auto& [bucket, waiting] = *entry;
        const auto drain = drains.at(waiting.move.from.value);
        const auto seen = observe(bucket);
        const auto is_live = [live](Slot slot) { return (live & bit(slot)) != 0; };
        if (!seen.moved && is_live(waiting.move.from) && !is_live(waiting.move.to)) {
            entry = waiting_.erase(entry);
            continue;
        }
        const auto end = end_of(waiting, now, live, drain, config, seen);
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - waiting.since);
        if (end) ended.push_back({.move = waiting.move, .end = *end, .waited = waited});
        entry = end ? waiting_.erase(entry) : std::next(entry);
    }
    for (const auto& [move, end, waited] : ended)
        if (move.swap && end != MoveEnd::given_up) hurry(move);
    return ended;
}

/// The bucket that was swapped with this one, if it still waits. By now it may have another destination, and
/// it may never have been on the port where the plan had it.
void Moves::hurry(const BucketMove& moved) {
    const auto found = waiting_.find(moved.swap->other);
    if (found == waiting_.end()) return;
    auto& [move, since, quiet_since, packets, other_has_moved] = found->second;
    other_has_moved |= move.swap && move.swap->other == moved.bucket && move.from == moved.to;
}

std::array<Slot, bucket_count> Moves::leaving() const {
    std::array<Slot, bucket_count> slots{};
    for (const auto& [bucket, waiting] : waiting_)
        slots[bucket] = waiting.move.from;
    return slots;
}

} // namespace teamo
