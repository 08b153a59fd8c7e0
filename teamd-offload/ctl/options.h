// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

struct Options {
    bool help = false;
    int verbosity = 0;                             ///< how often -v was given
    bool oneline = false;                          ///< JSON without line breaks
    bool json = false;                             ///< our own nouns only: for programs, not for people
    bool dry_run = false;                          ///< says what would be, and changes nothing
    std::optional<std::string> measure;            ///< a port that is measured whatever its load
    bool usock = false, dbus = false, zmq = false; ///< the interface that is forced, if any
    std::vector<std::string> words;                ///< team device, command, arguments
};

/// teamdctl's options, wherever they stand among the words, as getopt_long(3) reads them. An error is bad
/// usage.
Result<Options> read_options(int argc, char** argv);

/// What `teamoctl -h` says about the options.
std::string help_on_options(std::string_view program);

} // namespace teamo::ctl
