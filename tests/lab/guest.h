// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What tests do in the guest itself.
#pragma once

#include "support/eventually.h"

#include <string>

namespace teamo::test {

inline constexpr const char* balanced_pair =
    R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}, "eth1": {}}})";

inline constexpr milliseconds patience = 15s; ///< emulation is slow

/// Whether this kernel has at least this version.
bool is_at_least(int major, int minor);

/// Runs a shell command, which must succeed; returns its output.
std::string in_guest(const std::string& command);

/// What a port is like before a team has it. A device gets its queueing discipline when it is first up, and
/// keeps it, so the port is up for a moment.
std::string as_it_is(const std::string& port);

} // namespace teamo::test
