// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>

namespace teamo {

/// Why workers cannot follow their packets: the kernel makes packets follow the workers (RFS), which would
/// make each follow the other. Empty: it does not. `root`: where /proc and /sys are.
std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root = "");

} // namespace teamo
