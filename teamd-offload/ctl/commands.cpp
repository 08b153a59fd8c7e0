// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

/// src, dst, proto, sport, dport, smac, dmac and two VLANs with their values are 18 words.
constexpr std::size_t longest_packet = 64;
constexpr std::size_t longest_command_line = 4096;

/// The row whose path is `above` and one word more that starts with `word`.
const Command* below(std::string_view above, std::string_view word) {
    const auto fits = [&](const Command& command) {
        auto rest = command.path;
        if (!above.empty()) {
            if (!rest.starts_with(above) || rest.substr(above.size(), 1) != " ") return false;
            rest.remove_prefix(above.size() + 1);
        }
        return rest.find(' ') == std::string_view::npos && rest.starts_with(word);
    };
    const auto table = commands();
    const auto found = std::ranges::find_if(table, fits);
    return found == table.end() ? nullptr : &*found;
}

} // namespace

std::span<const Command> commands() {
    // teamdctl's rows come first and in its order: what it lets one abbreviate means the same here.
    static const std::vector<Command> table{
        {.path = "config"},
        {.path = "config dump", .run = config_dump},
        {.path = "config dump noports", .run = config_dump_noports},
        {.path = "config dump actual", .run = config_dump_actual},
        {.path = "state", .run = state_view},
        {.path = "state dump", .run = state_dump},
        {.path = "state view", .run = state_view},
        {.path = "state item"},
        {.path = "state item get", .run = state_item_get, .parameters = {"ITEMPATH"}},
        {.path = "state item set", .run = state_item_set, .parameters = {"ITEMPATH", "VALUE"}},
        {.path = "port"},
        {.path = "port add", .run = port_add, .parameters = {"PORTDEV"}},
        {.path = "port remove",
         .run = port_remove,
         .parameters = {"PORTDEV"},
         .rehearse = rehearse_port_remove},
        {.path = "port present", .run = port_present, .parameters = {"PORTDEV"}},
        {.path = "port config"},
        {.path = "port config update", .run = port_config_update, .parameters = {"PORTDEV", "PORTCONFIG"}},
        {.path = "port config dump", .run = port_config_dump, .parameters = {"PORTDEV"}},
        {.path = "balance", .run = balance_show, .json = true},
        {.path = "balance show", .run = balance_show, .json = true},
        {.path = "balance hash",
         .run = balance_hash,
         .parameters = {"PACKET"},
         .more = longest_packet,
         .check = check_balance_hash,
         .json = true},
        {.path = "balance move",
         .run = balance_move,
         .parameters = {"BUCKET", "PORTDEV"},
         .more = 1,
         .check = check_balance_move},
        {.path = "balance freeze", .run = balance_freeze},
        {.path = "balance thaw", .run = balance_thaw},
        {.path = "offload", .run = offload_show, .json = true},
        {.path = "offload show", .run = offload_show, .json = true},
        {.path = "interrupts", .run = interrupts_show, .json = true},
        {.path = "interrupts show", .run = interrupts_show, .json = true},
        {.path = "interrupts plan", .run = interrupts_plan, .json = true},
        {.path = "interrupts apply", .run = interrupts_apply},
        {.path = "interrupts restore", .run = interrupts_restore},
        {.path = "interrupts benchmark", .run = interrupts_benchmark, .json = true},
        {.path = "workers", .run = workers_show, .json = true},
        {.path = "workers show", .run = workers_show, .json = true},
        {.path = "workers bind",
         .run = workers_bind,
         .parameters = {"PID"},
         .more = 1,
         .check = check_workers_bind},
        {.path = "workers release", .run = workers_release, .parameters = {"PID"}},
        {.path = "workers run", .run = workers_run, .parameters = {"COMMAND"}, .more = longest_command_line},
        {.path = "workers apply", .run = workers_apply},
        {.path = "workers restore", .run = workers_restore},
        {.path = "stats", .run = stats_show, .json = true},
        {.path = "doctor", .run = doctor, .json = true, .measure = true},
    };
    return table;
}

Result<Chosen> find_command(Arguments words) {
    std::string_view path;
    for (;;) {
        if (words.empty()) return fail(EINVAL, "None or incomplete command");
        const auto* command = below(path, words.front());
        if (!command) return fail(EINVAL, fmt::format("Unknown command \"{}\".", words.front()));
        words = words.subspan(1);
        const auto wanted = command->parameters.size();
        if (command->run && words.size() <= wanted + command->more) {
            if (words.size() < wanted)
                return fail(EINVAL, fmt::format("Command line parameter \"{}\" expected.",
                                                command->parameters[words.size()]));
            return Chosen{command, words};
        }
        path = command->path;
    }
}

std::string help_on_commands() {
    std::string text = "Commands:\n";
    for (const auto& command : commands())
        if (command.run) {
            text += fmt::format("    {}", command.path);
            for (const auto parameter : command.parameters)
                text += fmt::format(" {}", parameter);
            if (command.more == 1) text += " [now]";
            if (command.more > 1) text += "...";
            text += '\n';
        }
    return text;
}

} // namespace teamo::ctl
