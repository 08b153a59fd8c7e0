// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/ip_address.h"
#include "bench/run/plan.h"

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace teamo::bench {

struct CommandLine {
    enum class Command { self, peer, serve, report, table, compare };
    Command command = Command::self;
    std::string team{}; ///< that is measured against a peer
    Options options{};
    std::set<IpAddress> allowed{};    ///< the clients of `serve`
    std::vector<std::string> files{}; ///< of earlier results
    bool json = false;
    bool oneline = false; ///< JSON without line breaks
};

/// Or the exit status of a program that has nothing to do: it has printed its help, or what is wrong.
std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv);

} // namespace teamo::bench
