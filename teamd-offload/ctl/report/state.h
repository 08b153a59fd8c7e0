// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our daemon's state document as a value: what lib/control writes, read again; pure.
#pragma once

#include "base/result.h"
#include "model/balance_status.h"
#include "model/status.h"
#include "json/value.h"

namespace teamo::ctl {

struct TeamState {
    std::string name, runner, datapath;
    IfIndex ifindex;
    MacAddress address;
    std::vector<PortStatus> ports;        ///< without their watches
    std::optional<BalanceStatus> balance; ///< of teams that hash; of its configuration `on` and `aware`
    std::optional<OffloadStatus> offload; ///< of daemons that tell
    json::Value document;                 ///< all of it, for keys of others
    bool operator==(const TeamState&) const = default;
};

/// ENOTSUP where the daemon is a teamd, which does not know of its datapath.
Result<TeamState> read_state(json::Value document);

const PortStatus* find_port(const TeamState& state, std::string_view name);

/// The port's part of "balance"; nullptr where the team does not hash.
const PortBalance* find_balance(const TeamState& state, std::string_view port);

/// The ports that transmit, or may as soon as another one fails (activebackup).
std::vector<const PortStatus*> carriers(const TeamState& state);

} // namespace teamo::ctl
