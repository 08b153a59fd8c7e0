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

/// True if systemd is stopping the unit of this process only to start it again: systemctl restart, or a
/// package that is upgraded. False if systemd did not start this process, or does not answer.
bool is_unit_restarting();

} // namespace teamo
