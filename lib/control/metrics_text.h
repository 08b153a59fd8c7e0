// SPDX-License-Identifier: LGPL-2.1-or-later
//
// State documents as metrics for Prometheus, in its text format (version 0.0.4), which node_exporter's
// textfile collector reads. Pure.
#pragma once

#include "control/refused_teams.h"
#include "json/value.h"

#include <span>
#include <string>

namespace teamo::control {

/// `states`: state documents, one of each team. `refused`: teams that run in no process.
std::string metrics_text(std::span<const json::Value> states, std::span<const RefusedTeam> refused = {});

} // namespace teamo::control
