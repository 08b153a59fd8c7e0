// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runner/candidate.h"

#include <span>

namespace teamo {

/// One port is active, the others wait (teamd_runner_activebackup.c). The best port is not `last`, then has
/// the highest prio, then is the fastest, then has full duplex. teamd combines these with "or", so that a
/// fast port of low prio wins. Of equal ports the one that shares least with the port that was lost becomes
/// active (docs/adr/0030), so that a switch or a card that fails takes one change and not two.
class ActiveBackup {
public:
    /// `active`: the active port of an earlier daemon; `by_hand`: made active by command then.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt, bool by_hand = false)
        : active_(active), was_by_hand_(by_hand) {}

    Decision step(std::span<const Candidate> ports);

    /// Makes a port active by command. It stays active until the ports change, as with teamd. False: no such
    /// port, or its link is down.
    bool choose(IfIndex port, std::span<const Candidate> ports);
    /// Whether the active port stays because of that command.
    bool is_by_hand() const { return !chosen_among_.empty(); }

private:
    const Candidate* best(std::span<const Candidate> ports, const Candidate* current) const;
    std::optional<ActiveChoice> choice_over(std::span<const Candidate> ports, const Candidate& chosen) const;

    std::optional<IfIndex> active_;
    bool was_by_hand_;     ///< under an earlier daemon, whose ports the first step has
    FailureDomain domain_; ///< of the active port, also when its device is gone
    std::optional<ActiveChoice> choice_;
    std::vector<Candidate> chosen_among_; ///< the ports when one was chosen by command, without domains
};

} // namespace teamo
