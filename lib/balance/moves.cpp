// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/moves.h"

#include <optional>

namespace teamo {
namespace {

/// Whether to move without a gap. Moves by hand are not forced (the administrator can request "now"); moves
/// for membership always are.
bool worth_it(const BucketMove& move, const BalanceConfig& config) {
    switch (move.reason) {
    case MoveReason::membership: return true;
    case MoveReason::by_hand: return false;
    case MoveReason::load:
    case MoveReason::offload: return move.gain * 100 >= config.min_gain;
    }
    return false;
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
    if (now - waiting.since < config.max_wait) return std::nullopt;
    return worth_it(waiting.move, config) ? MoveEnd::forced : MoveEnd::given_up;
}

} // namespace

void Moves::begin(const BucketMove& move, Time now) {
    auto begun = move;
    if (const auto found = waiting_.find(move.bucket); found != waiting_.end())
        begun.from = found->second.move.from; // where it still is
    if (begun.from == begun.to)
        waiting_.erase(move.bucket);
    else
        waiting_.insert_or_assign(move.bucket, Waiting{begun, now, now, std::nullopt});
}

std::vector<Moves::Ended> Moves::step(Time now, SlotSet live, const Drains& drains,
                                      const BalanceConfig& config,
                                      const std::function<Seen(std::uint8_t bucket)>& look) {
    std::vector<Ended> ended;
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
        auto& waiting = entry->second;
        const auto end =
            end_of(waiting, now, live, drains.at(waiting.move.from.value), config, look(entry->first));
        if (!end) {
            ++entry;
            continue;
        }
        ended.push_back(
            {.move = waiting.move,
             .end = *end,
             .waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - waiting.since)});
        entry = waiting_.erase(entry);
    }
    return ended;
}

std::array<Slot, bucket_count> Moves::leaving() const {
    std::array<Slot, bucket_count> slots{};
    for (const auto& [bucket, waiting] : waiting_)
        slots[bucket] = waiting.move.from;
    return slots;
}

} // namespace teamo
