// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Parts of a team's state; pure.
#pragma once

#include "control/state_document.h"

namespace teamo::ctl {

using control::TeamState;

const PortStatus* find_port(const TeamState& state, std::string_view name);

/// The port's part of "balance"; nullptr if the team does not hash.
const PortBalance* find_balance(const TeamState& state, std::string_view port);

/// The ports that transmit, and with activebackup also those that can take over.
std::vector<const PortStatus*> carriers(const TeamState& state);

} // namespace teamo::ctl
