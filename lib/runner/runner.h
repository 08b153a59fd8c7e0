// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides which ports carry, from the state of the ports.
#pragma once

#include "base/named.h"
#include "model/config.h"
#include "model/status.h"

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace teamo {

/// A port, as input of a runner.
struct Candidate {
    IfIndex port;
    bool up = false; ///< result of its link watches
    std::int32_t prio = 0;
    bool sticky = false;
    std::uint32_t speed = 0; ///< Mbit/s; 0 is unknown
    Duplex duplex = Duplex::unknown;
    bool last = false; ///< demoted: carries only if no other port can, as it lacks an offload
    bool operator==(const Candidate&) const = default;
};

struct Decision {
    std::vector<IfIndex> transmit; ///< ports that transmit
    std::vector<IfIndex> receive;  ///< ports whose received packets are delivered
    std::optional<IfIndex> active; ///< activebackup: the active port
    bool operator==(const Decision&) const = default;
};

/// One port carries, the others are standby (teamd_runner_activebackup.c). The best port: not demoted, then
/// highest prio, then fastest, then full duplex. (teamd joins these conditions with "or", so that a fast port
/// of low prio can win.)
class ActiveBackup {
public:
    /// `active`: the active port of an earlier daemon.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt) : active_(active) {}

    Decision step(std::span<const Candidate> ports);

    /// Makes a port active on request of the administrator, until the ports change, as in teamd. False: no
    /// such port, or its link is down.
    bool choose(IfIndex port, std::span<const Candidate> ports);

private:
    std::optional<IfIndex> active_;
    std::vector<Candidate> chosen_among_; ///< state of the ports when the administrator chose one
};

/// Every port that is up transmits; demoted ones only if there are no others. Packets from all ports are
/// delivered, also from ports that are down: they did arrive.
class AllPorts {
public:
    static Decision step(std::span<const Candidate> ports);
};

using Runner = std::variant<AllPorts, ActiveBackup>;

/// The runner of a configuration; `active` as in ActiveBackup.
Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active);

Decision step(Runner& runner, std::span<const Candidate> ports);

} // namespace teamo
