// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

struct Options {
    bool help = false;
    int verbosity = 0;                  ///< how often -v was given
    bool oneline = false;               ///< JSON without line breaks
    bool json = false;                  ///< JSON instead of text, for commands that teamdctl has not
    bool dry_run = false;               ///< show the effect, change nothing
    std::optional<std::string> measure; ///< a port to measure whatever its load is
    bool usock = false, dbus = false, zmq = false; ///< the forced interface
    std::vector<std::string> words;                ///< team device, command, arguments
};

/// Options may stand anywhere among the words (getopt_long(3)), as with teamdctl. An error is bad usage.
Result<Options> read_options(int argc, char** argv);

/// The first part of `teamoctl -h`: usage and options.
std::string help_on_options(std::string_view program);

} // namespace teamo::ctl
