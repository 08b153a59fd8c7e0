// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The clients of the control socket that may only read. The daemon works at real-time priority, so what they
// may use is limited: places for connections, and CPU time for their requests. Pure.
#pragma once

#include "base/clock.h"

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>

namespace teamo::control {

/// CPU time that may be spent, and comes back with time: a token bucket.
class CpuBudget {
public:
    using Time = Clock::time_point;

    struct Limits {
        std::chrono::nanoseconds at_once; ///< what a full budget has
        int percent;                      ///< of a CPU: what comes back
    };
    explicit constexpr CpuBudget(Limits limits) : limits_(limits) {}

    /// May exceed what is left: the rest is owed.
    void spend(std::chrono::nanoseconds cpu, Time now) {
        full_at_ = std::max(full_at_, now) + returns_in(cpu);
    }
    /// From when on nothing is owed; not later than now: something may be spent.
    Time ready() const { return full_at_ - returns_in(limits_.at_once); }
    bool is_full(Time now) const { return full_at_ <= now; }

private:
    std::chrono::nanoseconds returns_in(std::chrono::nanoseconds cpu) const {
        return cpu * 100 / limits_.percent;
    }

    Limits limits_;
    Time full_at_{}; ///< the only state: what is missing now is what comes back until then
};

/// Connections of all clients. Those that readers cannot have are kept for root.
inline constexpr std::size_t max_clients = 64;

class Readers {
public:
    using Time = Clock::time_point;

    static constexpr std::size_t max_connections = 48, max_of_user = 16;
    /// A state document of eight ports costs about 1 ms: a script may ask for hundreds at once, and then for
    /// some dozens a second; `teamoctl top` asks for one.
    static constexpr CpuBudget::Limits limits_of_user{.at_once = std::chrono::milliseconds(250),
                                                      .percent = 5};
    /// A user with subordinate IDs (newuidmap(1)) can be thousands of users.
    static constexpr CpuBudget::Limits limits_of_all{.at_once = std::chrono::milliseconds(500),
                                                     .percent = 20};

    enum class Place { given, user_has_too_many, too_many };
    /// A connection; if it was given a place, leave() must follow.
    Place enter(uid_t user, Time now);
    void leave(uid_t user, Time now);

    /// A request of this user has cost this much.
    void spend(uid_t user, std::chrono::nanoseconds cpu, Time now);
    /// From when on the next request of this user may be read; not later than now: at once.
    Time ready(uid_t user) const;

private:
    struct User {
        std::size_t connections = 0;
        CpuBudget budget{limits_of_user};
    };

    std::map<uid_t, User> users_; ///< who has a connection, or owes CPU time from an earlier one
    std::size_t connections_ = 0;
    CpuBudget all_{limits_of_all};
};

} // namespace teamo::control
