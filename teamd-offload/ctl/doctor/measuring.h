// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/doctor/trial.h"
#include "ctl/session.h"

namespace teamo::ctl {

/// Sends by the port with TSO and without, for a second each in turn, and puts back what was. The daemon does
/// that too, if this process dies. An error where TSO cannot be switched.
Result<Trial> measure_tso(Session& session, const std::string& port);

} // namespace teamo::ctl
