// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/session.h"

#include <span>

namespace teamo::ctl {

using Arguments = std::span<const std::string>;

/// One row of the table. A word of its path may be abbreviated; the first row that fits is meant.
struct Command {
    std::string_view path; ///< "port config dump": every word but the last has a row too
    Result<> (*run)(Session&, Arguments) = nullptr; ///< none: the path goes on
    std::vector<std::string_view> parameters{};
    std::size_t more = 0;                                ///< so many words may follow the parameters
    Result<> (*check)(Arguments) = nullptr;              ///< what can be said of them without asking anybody
    bool json = false, measure = false;                  ///< takes --json; --measure
    Result<> (*rehearse)(Session&, Arguments) = nullptr; ///< instead of `run`, with --dry-run and then --json
};

std::span<const Command> commands();

struct Chosen {
    const Command* command;
    Arguments arguments;
};

/// The command that the words mean. An error is bad usage.
Result<Chosen> find_command(Arguments words);

std::string help_on_commands();

// teamdctl's commands, and below them ours. A check's error is bad usage. An error without a text, of a
// command that has said all there is to say, is just the exit status.
Result<> config_dump(Session& session, Arguments);
Result<> config_dump_noports(Session& session, Arguments);
Result<> config_dump_actual(Session& session, Arguments);
Result<> state_dump(Session& session, Arguments);
Result<> state_view(Session& session, Arguments);
Result<> state_item_get(Session& session, Arguments arguments);
Result<> state_item_set(Session& session, Arguments arguments);
Result<> port_add(Session& session, Arguments arguments);
Result<> port_remove(Session& session, Arguments arguments);
Result<> port_present(Session& session, Arguments arguments);
Result<> port_config_update(Session& session, Arguments arguments);
Result<> port_config_dump(Session& session, Arguments arguments);

Result<> balance_show(Session& session, Arguments);
Result<> check_balance_hash(Arguments arguments);
Result<> balance_hash(Session& session, Arguments arguments);
Result<> check_balance_move(Arguments arguments);
Result<> balance_move(Session& session, Arguments arguments);
Result<> balance_freeze(Session& session, Arguments);
Result<> balance_thaw(Session& session, Arguments);
Result<> doctor(Session& session, Arguments);
Result<> offload_show(Session& session, Arguments);
Result<> interrupts_show(Session& session, Arguments);
Result<> interrupts_plan(Session& session, Arguments);
Result<> interrupts_apply(Session& session, Arguments);
Result<> interrupts_restore(Session& session, Arguments);
Result<> interrupts_benchmark(Session& session, Arguments);
Result<> workers_show(Session& session, Arguments);
Result<> check_workers_bind(Arguments arguments);
Result<> workers_bind(Session& session, Arguments arguments);
Result<> workers_release(Session& session, Arguments arguments);
Result<> workers_run(Session& session, Arguments arguments);
Result<> workers_apply(Session& session, Arguments);
Result<> workers_restore(Session& session, Arguments);
Result<> rehearse_port_remove(Session& session, Arguments arguments);
Result<> stats_show(Session& session, Arguments);

} // namespace teamo::ctl
