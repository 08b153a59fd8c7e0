// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pending moves of buckets. Packets sent through the old port may still be in its queues, so each bucket
// waits for a gap in its traffic that is at least the port's drain time.
#pragma once

#include "model/balance.h"
#include "model/tables.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace teamo {

class Moves {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Drains = std::array<std::chrono::nanoseconds, max_ports + 1>;

    /// Starts to wait for a gap. If the bucket has a pending move, its old port stays the same and the wait
    /// starts again; a move back to the old port just ends the wait.
    void begin(const BucketMove& move, Time now);
    /// Ends the wait without a move.
    void cancel(std::uint8_t bucket) { waiting_.erase(bucket); }

    /// The present state of a waiting bucket.
    struct Seen {
        bool moved = false; ///< the datapath saw a gap and moved it
        /// Number of packets sent so far; not known: no gap can be seen.
        std::optional<std::uint64_t> packets;
    };
    struct Ended {
        BucketMove move;
        MoveEnd end = MoveEnd::in_gap;
        std::chrono::milliseconds waited{0};
        bool operator==(const Ended&) const = default;
    };
    /// Returns the moves that end: a gap came, the old port is not `live` any more, the time is over, or the
    /// other bucket of a swap moved at an earlier step and it pays not to wait with both on one port. For
    /// MoveEnd::given_up the caller must make `from` the owner again. A move whose new port is not live ends
    /// without being returned: nothing has moved, and when the port is back the bucket has to wait anew.
    std::vector<Ended> step(Time now, SlotSet live, const Drains& drains, const BalanceConfig& config,
                            const std::function<Seen(std::uint8_t bucket)>& observe);

    bool waits(std::uint8_t bucket) const { return waiting_.contains(bucket); }
    bool empty() const { return waiting_.empty(); }

    struct Waiting {
        BucketMove move;
        Time since, quiet_since;
        std::optional<std::uint64_t> packets; ///< at the last step
        bool other_has_moved = false;         ///< of a swap
    };
    const std::map<std::uint8_t, Waiting>& waiting() const { return waiting_; }
    /// See Tables.
    std::array<Slot, bucket_count> leaving() const;

private:
    void hurry(const BucketMove& moved);

    std::map<std::uint8_t, Waiting> waiting_;
};

} // namespace teamo
