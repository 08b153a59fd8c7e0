// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

namespace teamo {

/// teamd's -d: the parent stays until the child says how its start went, and ends with that status.
class Daemonized {
public:
    /// In the child: goes on. In the parent: does not return (waits 20 s at most, as teamd).
    static Result<Daemonized> fork();
    /// Tells the parent: 0 is a good start.
    void started(int status);

private:
    explicit Daemonized(UniqueFd pipe) : pipe_(std::move(pipe)) {}
    UniqueFd pipe_;
};

} // namespace teamo
