// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "log.h"
#include "options.h"

namespace teamo {

/// --dry-run: prints the plan of a start for the present devices, as JSON; changes nothing. Returns the exit
/// status; 1: the start would be refused.
int dry_run(const Configuration& configuration, const Options& options, const Log& log);

} // namespace teamo
