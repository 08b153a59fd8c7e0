// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `balance` and `stats`, as text and as JSON; pure.
#pragma once

#include "ctl/report/state.h"

namespace teamo::ctl {

std::string balance_text(const TeamState& state);
json::Value balance_json(const TeamState& state);

std::string stats_text(const TeamState& state);
json::Value stats_json(const TeamState& state);

} // namespace teamo::ctl
