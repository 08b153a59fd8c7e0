// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state document of our daemon, which lib/control writes, as a value; pure.
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
    std::vector<PortStatus> ports; ///< without their link watches
    std::optional<BalanceStatus>
        balance; ///< if the team hashes; its config has only `on`, `aware` and `interval`
    std::optional<OffloadStatus> offload; ///< none: the daemon is too old
    json::Value document;                 ///< the whole document
    bool operator==(const TeamState&) const = default;
};

/// ENOTSUP if the daemon is a teamd: its state has no "datapath".
Result<TeamState> read_state(json::Value document);

const PortStatus* find_port(const TeamState& state, std::string_view name);

/// The port's part of "balance"; nullptr if the team does not hash.
const PortBalance* find_balance(const TeamState& state, std::string_view port);

/// The ports that transmit, and with activebackup also those that can take over.
std::vector<const PortStatus*> carriers(const TeamState& state);

} // namespace teamo::ctl
