// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/workers.h"

#include <sys/types.h>

#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// Looks up the users of worker rules in a thread of its own. A directory service may be reached through the
/// team, and answer late or never: the team must not wait for it.
class UserLookup {
public:
    using Users = std::map<std::string, uid_t>; ///< by name

    /// In place of an earlier look-up; begins when that has ended, so that there is one thread at a time.
    void begin(const std::vector<WorkerRule>& rules);
    /// The result of the last begin(), once, without unknown names. None: it is not there yet, or no rule
    /// names a user.
    std::optional<Users> take();
    /// True until take() has returned the result.
    bool is_running() const { return result_.valid() || next_; }

private:
    void start();

    std::optional<std::vector<WorkerRule>> next_; ///< no thread has begun with these
    std::future<Users> result_;
};

} // namespace teamo
