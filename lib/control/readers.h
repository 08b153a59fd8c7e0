// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The clients of the control socket that may only read. The daemon works at real-time priority, so what they
// may use is limited: places for connections, and CPU time for their requests. Pure.
#pragma once

#include "control/cpu_budget.h"

#include <sys/types.h>

#include <cstddef>
#include <map>

namespace teamo::control {

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
