// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides which ports send and receive. A value: ports and the time in, decision out.
#pragma once

#include "model/config.h"
#include "runner/activebackup.h"
#include "runner/all_ports.h"
#include "runner/lacp_runner.h"

#include <optional>
#include <span>
#include <variant>

namespace teamo {

using Runner = std::variant<AllPorts, ActiveBackup, Lacp>;

/// What a runner needs besides its configuration.
struct RunnerStart {
    std::optional<IfIndex> active{};                   ///< as in ActiveBackup
    bool active_by_hand = false;                       ///< as in ActiveBackup
    MacAddress system{};                               ///< lacp: identifies the team
    bool can_only_receive = false;                     ///< lacp: Datapath::can_only_receive()
    std::map<IfIndex, lacp::PortMemory> lacp_memory{}; ///< of an earlier daemon
};
lacp::Settings lacp_settings(const LacpRunner& config, const RunnerStart& start);
Runner make_runner(const RunnerConfig& config, const RunnerStart& start);

Decision step(Runner& runner, std::span<const Candidate> ports, Clock::time_point now);

} // namespace teamo
