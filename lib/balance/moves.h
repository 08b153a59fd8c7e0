// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Buckets on their way from one port to another. What was sent by the old port may still wait in its queues,
// so a bucket waits for a pause of its own traffic; how long is enough, the port's drain time says.
#pragma once

#include "model/balance_status.h"
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

    /// From now on the bucket waits for its pause. One that waits already keeps the port that it leaves, and
    /// begins to wait anew; where it shall go back to that port it waits no more.
    void begin(const BucketMove& move, Time now);
    /// The bucket waits for nothing any more.
    void cancel(std::uint8_t bucket) { waiting_.erase(bucket); }

    /// What is seen of a bucket that waits.
    struct Seen {
        bool moved = false; ///< the datapath has seen the pause and moved it
        /// That it has sent so far; where that is not known it does not pause.
        std::optional<std::uint64_t> packets;
    };
    struct Ended {
        BucketMove move;
        MoveEnd end = MoveEnd::in_gap;
        std::chrono::milliseconds waited{0};
        bool operator==(const Ended&) const = default;
    };
    /// Those whose waiting ends: the pause came, the old port is `live` no more, or it took too long. A
    /// bucket that gives up has its home with `from` again, which is for the caller to do.
    std::vector<Ended> step(Time now, SlotSet live, const Drains& drains, const BalanceConfig& config,
                            const std::function<Seen(std::uint8_t bucket)>& look);

    bool waits(std::uint8_t bucket) const { return waiting_.contains(bucket); }
    bool empty() const { return waiting_.empty(); }

    struct Waiting {
        BucketMove move;
        Time since, quiet_since;
        std::optional<std::uint64_t> packets; ///< as last seen
    };
    const std::map<std::uint8_t, Waiting>& waiting() const { return waiting_; }
    /// As Tables has it.
    std::array<Slot, bucket_count> leaving() const;

private:
    std::map<std::uint8_t, Waiting> waiting_;
};

} // namespace teamo
