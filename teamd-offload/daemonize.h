// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

namespace teamo {

/// teamd's -d: the parent waits for the child's report of its start, and exits with that status.
class Daemonized {
public:
    /// Returns in the child only. The parent waits 20 s at most, as teamd.
    static Result<Daemonized> fork();
    /// Reports the exit status to the parent; 0: success.
    void started(int status);

private:
    explicit Daemonized(UniqueFd pipe) : pipe_(std::move(pipe)) {}
    UniqueFd pipe_;
};

} // namespace teamo
