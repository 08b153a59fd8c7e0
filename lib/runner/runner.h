// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides which ports send and receive. A value: ports in, decision out.
#pragma once

#include "model/status.h"

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace teamo {

/// A port as a runner sees it.
struct Candidate {
    IfIndex port;
    bool up = false; ///< by its link watches
    std::int32_t prio = 0;
    bool sticky = false;
    std::uint32_t speed = 0; ///< Mbit/s; 0 is unknown
    Duplex duplex = Duplex::unknown;
    bool last = false; ///< use it only if no other port is up: it lacks an offload ("lacking": "demote")
    bool operator==(const Candidate&) const = default;
};

struct Decision {
    std::vector<IfIndex> transmit; ///< ports that send packets
    std::vector<IfIndex> receive;  ///< ports whose received packets are delivered
    std::optional<IfIndex> active; ///< activebackup
    bool operator==(const Decision&) const = default;
};

/// Every port that is up sends; those that are `last` only if no other port is up. All ports receive.
struct AllPorts {
    static Decision step(std::span<const Candidate> ports);
};

/// One port is active, the others wait (teamd_runner_activebackup.c). The best port is not `last`, then has
/// the highest prio, then is the fastest, then has full duplex. With teamd a fast port of low prio wins.
class ActiveBackup {
public:
    /// `active`: the active port of an earlier daemon.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt) : active_(active) {}

    Decision step(std::span<const Candidate> ports);

    /// Makes a port active by command until the ports change, as with teamd. False: no such port is up.
    bool choose(IfIndex port, std::span<const Candidate> ports);

private:
    std::optional<IfIndex> active_;
    std::vector<Candidate> chosen_among_; ///< the ports when one was chosen by command
};

using Runner = std::variant<AllPorts, ActiveBackup>;

/// The runner of a configuration; `active` as in ActiveBackup.
Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active);

Decision step(Runner& runner, std::span<const Candidate> ports);

} // namespace teamo
