// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runner/candidate.h"

#include <span>

namespace teamo {

/// One port is active, the others wait (teamd_runner_activebackup.c). The best port is not `last`, then has
/// the highest prio, then is the fastest, then has full duplex. teamd combines these with "or", so that a
/// fast port of low prio wins.
class ActiveBackup {
public:
    /// `active`: the active port of an earlier daemon.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt) : active_(active) {}

    Decision step(std::span<const Candidate> ports);

    /// Makes a port active by command. It stays active until the ports change, as with teamd. False: no such
    /// port, or its link is down.
    bool choose(IfIndex port, std::span<const Candidate> ports);

private:
    std::optional<IfIndex> active_;
    std::vector<Candidate> chosen_among_; ///< the ports when one was chosen by command
};

} // namespace teamo
