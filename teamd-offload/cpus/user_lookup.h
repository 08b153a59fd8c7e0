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

    /// In place of an earlier look-up.
    void begin(const std::vector<WorkerRule>& rules);
    /// Each look-up's result once, without unknown names. None: it still runs.
    std::optional<Users> take();
    bool is_running() const { return result_.valid(); }

private:
    std::future<Users> result_;
};

} // namespace teamo
