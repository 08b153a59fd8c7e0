// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <string>

namespace teamo {

/// True if systemd runs this machine, and this process is in its network namespace.
bool has_systemd();

/// Each asks systemd. The first two return before the unit runs or has stopped; the last is for the next
/// boot.
Result<> start_unit(const std::string& unit);
Result<> stop_unit(const std::string& unit);
Result<> enable_unit(const std::string& unit);

} // namespace teamo
