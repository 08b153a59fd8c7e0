// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After a failover, and with the runner slb after each move: announces the team's addresses and groups to
// switches and neighbours, as often as the configuration says (notify_peers, mcast_rejoin). The first
// announcement is sent at once.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"

#include <array>
#include <deque>
#include <memory>

namespace teamo {

class Announcer {
public:
    static Result<std::unique_ptr<Announcer>> make(TeamContext& context);

    /// `kernel_announces`: the kernel announces all devices that have an IP address; we announce the others.
    /// `inner`: the other end of the team's pair, if it has one.
    void announce(IfIndex team, IfIndex inner, Repetition peers, Repetition groups, bool kernel_announces);
    /// The addresses of these buckets, which have another port now: those of the host's devices, and those of
    /// guests. `groups`: none are announced with a count of 0.
    void announce_moved(IfIndex team, IfIndex inner, const BucketSet& buckets, Repetition peers,
                        Repetition groups);

private:
    enum class What { peers, groups };
    struct Round {
        What what;
        std::optional<Timer> timer{};
        IfIndex team{}, inner{};
        Repetition left{};
        bool only_without_address = false;
    };

    /// Of a bucket: how often its addresses are still to be announced, and when next.
    struct Due {
        std::uint32_t left = 0;
        Clock::time_point at{};
    };
    class Sender;

    explicit Announcer(TeamContext& context) : context_(context) {}
    void next(Round& round);
    void send(const Round& round);
    void next_moved();
    void send_moved(const BucketSet& buckets);
    void send_waiting();

    TeamContext& context_;
    Round peers_{.what = What::peers}, groups_{.what = What::groups};
    std::array<Due, bucket_count> moved_{};
    milliseconds moved_interval_{};
    std::optional<Timer> moved_timer_{};
    std::deque<LearnedAddress> waiting_{}; ///< to be announced in a moment
    std::optional<Timer> waiting_timer_{};
};

} // namespace teamo
