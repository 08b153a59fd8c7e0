// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "daemon/context/options.h"

namespace teamo {

/// --dry-run: prints the plan of a start now, as JSON; changes nothing. An error: it would be refused.
Result<> dry_run(const Configuration& configuration, const Options& options);

} // namespace teamo
