// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "soak/faults.h"
#include "soak/state.h"

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace teamo::soak {

/// A bucket that changes from one port that carries to another has a move that is reported. Only while the
/// team is balanced: else the buckets follow the ports at once.
class Buckets {
public:
    explicit Buckets(Runner runner) : follows_links_(runner != Runner::lacp) {}

    /// What was done to the ports since the last state: buckets of a port that was touched may leave at once.
    void note(const Action& action);
    /// Of the state document of a settled daemon. It can be asked again until it is true.
    std::string wrong(const Document& state, const Model& model, pid_t process) const;
    /// The next comparison is with this state.
    void keep(const Document& state, const Model& model, pid_t process);

    /// Moves that were reported meanwhile.
    std::uint64_t reported() const { return reported_; }

private:
    bool follows_links_;             ///< a port that carries is in use; with lacp the partner decides too
    std::vector<std::string> ports_; ///< by bucket; empty: the next state is compared with nothing
    std::uint64_t moved_ = 0, reported_ = 0;
    pid_t process_ = 0;
    std::set<std::string> touched_;
};

} // namespace teamo::soak
