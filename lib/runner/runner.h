// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides, from what is known of the ports, which of them carry. A value: ports in, decision out.
#pragma once

#include "base/named.h"
#include "model/config.h"
#include "model/status.h"

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace teamo {

/// What a runner knows of a port.
struct Candidate {
    IfIndex port;
    bool up = false; ///< what its link watches say
    std::int32_t prio = 0;
    bool sticky = false;
    std::uint32_t speed = 0; ///< Mbit/s; 0 is unknown
    Duplex duplex = Duplex::unknown;
    bool last = false; ///< to carry only where no other can: it lacks an offload ("lacking": "demote")
    bool operator==(const Candidate&) const = default;
};

struct Decision {
    std::vector<IfIndex> transmit; ///< ports that packets leave by
    std::vector<IfIndex> receive;  ///< ports whose arrivals are delivered
    std::optional<IfIndex> active; ///< activebackup
    bool operator==(const Decision&) const = default;
};

/// One port carries, the others wait (teamd_runner_activebackup.c). The best is one that is
/// not to be the last, then the highest prio, then the fastest, then full duplex; teamd's "or" between them
/// lets a fast port of low prio win.
class ActiveBackup {
public:
    /// `active`: the port that carried in the life of an earlier daemon.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt) : active_(active) {}

    Decision step(std::span<const Candidate> ports);

    /// Takes a port by an administrator's word. It stays until the ports change, as with teamd. False:
    /// no such port, or its link is down.
    bool choose(IfIndex port, std::span<const Candidate> ports);

private:
    std::optional<IfIndex> active_;
    std::vector<Candidate> chosen_among_; ///< how the ports stood when one was chosen by hand
};

/// Every port that is up carries, those that are to be the last only where there are no others; what arrives
/// is delivered from any port, since it did arrive.
class AllPorts {
public:
    static Decision step(std::span<const Candidate> ports);
};

using Runner = std::variant<AllPorts, ActiveBackup>;

/// The runner of a configuration; `active` as in ActiveBackup.
Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active);

Decision step(Runner& runner, std::span<const Candidate> ports);

} // namespace teamo
