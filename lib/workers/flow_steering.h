// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>

namespace teamo {

/// Why workers cannot be bound: RFS is on, which moves packets to the process while we move the process to
/// the packets. Empty: RFS is off. `root`: the directory that contains proc and sys.
std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root = "");

} // namespace teamo
