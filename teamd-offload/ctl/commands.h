// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The commands of teamoctl, and their help.
#pragma once

#include "ctl/session.h"

#include <span>

namespace teamo::ctl {

using Arguments = std::span<const std::string>;

enum class ExitStatus : int { success = 0, failure = 1, bad_usage = 2 };

/// How a command ended. An error is printed to stderr and exits with ExitStatus::failure; a command that has
/// printed its problems already returns `failure` without an error. `return {};` is success.
using CommandResult = Result<ExitStatus>;

using CommandFunction = CommandResult(Session&, Arguments);
using CommandAlone = CommandResult(const Options&, Arguments);
using CheckFunction = Result<>(Arguments);

/// One row of the table. A word of its path may be abbreviated, if it is about a team; the first matching row
/// is taken.
struct Command {
    std::string_view path;          ///< "port config dump": each prefix ("port", "port config") has a row too
    CommandFunction* run = nullptr; ///< none: only a prefix of other commands, or `alone`
    std::vector<std::string_view> parameters{}; ///< required
    std::string_view optional{};                ///< the words after them, as usage lines show them
    std::size_t max_optional = 0;               ///< how many of them may follow
    CheckFunction* check = nullptr;             ///< checks the arguments without the daemon: bad usage
    bool json = false, measure = false;         ///< accepts --json; --measure
    bool once = false;                          ///< accepts --once
    bool drains = false;                        ///< accepts --force and --timeout
    bool waiting = false;                       ///< also while the daemon waits for its bond
    CommandFunction* dry_run = nullptr;         ///< accepts --dry-run, and then --json
    CommandAlone* alone = nullptr;              ///< not about a team: `teamoctl import bond bond0`
    std::string_view same_as{};                 ///< the path that has the description
    std::string_view summary{};                 ///< for --help: present tense
    std::string_view text{};                    ///< at most eight lines of at most 80 columns

    std::size_t most_words() const { return parameters.size() + max_optional; }
};

std::span<const Command> commands();

struct CommandLine {
    const Command* command;
    Arguments arguments;
};

/// Splits the words into a command and its arguments. An error is bad usage.
Result<CommandLine> find_command(Arguments words);

/// The row for words that are all part of a path: also a prefix of other commands. An error is bad usage.
Result<const Command*> find_row(Arguments words);

/// For commands that are one request and print nothing.
CommandResult send_command(Session& session, const control::Request& request);

// The commands that are more than one request, in commands/.
CommandFunction config_dump_noports, config_diff, config_reload, state_view, state_item_get, port_present,
    port_remove_dry_run, port_drain, port_drain_dry_run;
CommandFunction balance_show, balance_hash, balance_move, stats_show, stats_live, metrics_show, top_show,
    offload_show, guard_show, doctor;
CommandFunction interrupts_show, interrupts_plan, bench_team;
CommandFunction workers_show, workers_bind, workers_release, workers_run;
CheckFunction check_balance_hash, check_balance_move, check_workers_bind;

/// The first of these is the command "bench", and no team of that name with a command.
bool is_bench(Arguments words);

/// None: the words are no such command, so the first one is a team. An error is bad usage.
Result<std::optional<CommandLine>> find_teamless(Arguments words);

/// A team that does not answer is named on standard error.
CommandAlone metrics_of_all_teams, doctor_of_all_teams, top_of_all_teams, import_bond, import_teamd, bench;
/// Without arguments: what is on this machine.
CommandAlone overview;

// `teamoctl --help` and `teamoctl help COMMAND`. man/teamoctl.8 has more, but need not be installed.

/// All options and commands, one line each.
std::string help_text(std::string_view program);
std::string version_text();

/// Usage and description of one command, whose words may be abbreviated, or a list of the commands that
/// begin with these words. An error is bad usage.
Result<std::string> help_on(std::string_view program, Arguments words);

/// "port config update PORTDEV PORTCONFIG".
std::string usage_of(const Command& command);

} // namespace teamo::ctl
