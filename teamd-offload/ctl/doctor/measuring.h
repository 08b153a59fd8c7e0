// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/doctor/trial.h"
#include "ctl/session.h"

namespace teamo::ctl {

/// Measures the port's traffic alternately with TSO and without, a second each, then restores TSO. If this
/// process dies, the daemon restores it. An error if TSO cannot be switched.
Result<Trial> measure_tso(Session& session, const std::string& port);

} // namespace teamo::ctl
