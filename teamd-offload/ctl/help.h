// SPDX-License-Identifier: LGPL-2.1-or-later
//
// `teamoctl --help` and `teamoctl help COMMAND`; pure. man/teamoctl.8 has more, but need not be installed.
#pragma once

#include "ctl/commands.h"

namespace teamo::ctl {

/// All options and commands, one line each.
std::string help_text(std::string_view program);

/// Usage and description of one command, whose words may be abbreviated, or a list of the commands that
/// begin with these words. An error is bad usage.
Result<std::string> help_on(std::string_view program, Arguments words);

/// "port config update PORTDEV PORTCONFIG".
std::string usage_of(const Command& command);

/// Some lines on what a command does, each ending with "\n"; empty: none.
std::string_view description_of(const Command& command);

} // namespace teamo::ctl
