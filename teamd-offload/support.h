// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/config.h"
#include "model/status.h"

#include <string>

namespace teamo {

/// Whether this version runs what the configuration asks for; ENOTSUP with the name of what it does not.
Result<> check_supported(const TeamConfig& config, std::optional<DatapathChoice> option);

/// A team's state in one line, for the log and for systemctl status.
std::string describe(const TeamStatus& status);

} // namespace teamo
