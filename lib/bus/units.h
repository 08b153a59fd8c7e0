// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <string>

namespace teamo {

/// True if systemd runs this machine, and this process is in its network namespace.
bool has_systemd();

/// Returns before the unit runs.
Result<> start_unit(const std::string& unit);
/// Returns when it has stopped. ETIMEDOUT: not within 30 seconds.
Result<> stop_unit(const std::string& unit);
/// For the next boot.
Result<> enable_unit(const std::string& unit);

} // namespace teamo
