// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/session.h"

#include <span>

namespace teamo::ctl {

using Arguments = std::span<const std::string>;

enum class ExitStatus : int { success = 0, failure = 1, bad_usage = 2 };

/// How a command ended. An error is printed to stderr and exits with ExitStatus::failure; a command that has
/// printed its problems already returns `failure` without an error. `return {};` is success.
using CommandResult = Result<ExitStatus>;

/// One row of the table. A word of its path may be abbreviated; the first matching row is taken.
struct Command {
    std::string_view path; ///< "port config dump": each prefix ("port", "port config") has a row too
    CommandResult (*run)(Session&, Arguments) = nullptr; ///< none: only a prefix of other commands
    std::vector<std::string_view> parameters{};          ///< required
    std::string_view optional{};                         ///< the words after them, as usage lines show them
    std::size_t max_optional = 0;                        ///< how many of them may follow
    Result<> (*check)(Arguments) = nullptr;              ///< checks the arguments without the daemon
    bool json = false, measure = false;                  ///< accepts --json; --measure
    CommandResult (*dry_run)(Session&, Arguments) = nullptr; ///< accepts --dry-run, and then --json
    std::string_view help{};                                 ///< one line for --help: present tense
    std::string_view same_as{}; ///< the path that has the help, instead of `help`
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

// teamdctl's commands, and below them ours. An error of a check_… function is bad usage.
CommandResult config_dump(Session& session, Arguments);
CommandResult config_dump_noports(Session& session, Arguments);
CommandResult config_dump_actual(Session& session, Arguments);
CommandResult state_dump(Session& session, Arguments);
CommandResult state_view(Session& session, Arguments);
CommandResult state_item_get(Session& session, Arguments arguments);
CommandResult state_item_set(Session& session, Arguments arguments);
CommandResult port_add(Session& session, Arguments arguments);
CommandResult port_remove(Session& session, Arguments arguments);
CommandResult port_present(Session& session, Arguments arguments);
CommandResult port_config_update(Session& session, Arguments arguments);
CommandResult port_config_dump(Session& session, Arguments arguments);

CommandResult balance_show(Session& session, Arguments);
Result<> check_balance_hash(Arguments arguments);
CommandResult balance_hash(Session& session, Arguments arguments);
Result<> check_balance_move(Arguments arguments);
CommandResult balance_move(Session& session, Arguments arguments);
CommandResult balance_freeze(Session& session, Arguments);
CommandResult balance_thaw(Session& session, Arguments);
CommandResult doctor(Session& session, Arguments);
CommandResult offload_show(Session& session, Arguments);
CommandResult interrupts_show(Session& session, Arguments);
CommandResult interrupts_plan(Session& session, Arguments);
CommandResult interrupts_apply(Session& session, Arguments);
CommandResult interrupts_restore(Session& session, Arguments);
CommandResult interrupts_benchmark(Session& session, Arguments);
CommandResult workers_show(Session& session, Arguments);
Result<> check_workers_bind(Arguments arguments);
CommandResult workers_bind(Session& session, Arguments arguments);
CommandResult workers_release(Session& session, Arguments arguments);
CommandResult workers_run(Session& session, Arguments arguments);
CommandResult workers_apply(Session& session, Arguments);
CommandResult workers_restore(Session& session, Arguments);
CommandResult port_remove_dry_run(Session& session, Arguments arguments);
CommandResult stats_show(Session& session, Arguments);

} // namespace teamo::ctl
