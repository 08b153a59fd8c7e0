// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

/// src, dst, proto, sport, dport, smac, dmac and two VLANs with their values are 18 words.
constexpr std::size_t max_packet_words = 64;
constexpr std::size_t max_command_words = 4096;

/// The first row whose path is `above` and one more word that starts with `word`; or nullptr.
const Command* find_below(std::string_view above, std::string_view word) {
    const auto matches = [&](const Command& command) {
        auto rest = command.path;
        if (!above.empty()) {
            if (!rest.starts_with(above) || rest.substr(above.size(), 1) != " ") return false;
            rest.remove_prefix(above.size() + 1);
        }
        return rest.find(' ') == std::string_view::npos && rest.starts_with(word);
    };
    const auto table = commands();
    const auto found = std::ranges::find_if(table, matches);
    return found == table.end() ? nullptr : &*found;
}

/// The members of the request are `values`, or the words after the command.
template <class Request, auto... values>
Request request_of(Arguments words) {
    if constexpr (requires { Request{words[0], words[1]}; })
        return {words[0], words[1]};
    else if constexpr (requires { Request{words[0]}; })
        return {words[0]};
    else
        return {values...};
}

template <class Request, auto... values>
CommandResult send_request(Session& session, Arguments words) {
    return send_command(session, request_of<Request, values...>(words));
}

/// For requests whose reply is a document.
template <class Request>
CommandResult print_reply(Session& session, Arguments words) {
    const auto document = TEAMO_TRY(session.document(request_of<Request>(words)));
    session.print(document);
    return {};
}

} // namespace

std::span<const Command> commands() {
    // teamdctl's rows come first and in its order, so that each abbreviation means the same in both.
    static const std::vector<Command> table{
        {.path = "config"},
        {.path = "config dump", .run = print_reply<control::ConfigDump>},
        {.path = "config dump noports", .run = config_dump_noports},
        {.path = "config dump actual", .run = print_reply<control::ConfigDumpActual>},
        {.path = "config diff", .run = config_diff, .optional = "[FILE]", .max_optional = 1, .json = true},
        {.path = "config reload",
         .run = config_reload,
         .optional = "[FILE]",
         .max_optional = 1,
         .json = true,
         .dry_run = config_diff},
        {.path = "state", .run = state_view, .same_as = "state view"},
        {.path = "state dump", .run = print_reply<control::StateDump>},
        {.path = "state view", .run = state_view},
        {.path = "state item"},
        {.path = "state item get", .run = state_item_get, .parameters = {"ITEMPATH"}},
        {.path = "state item set",
         .run = send_request<control::StateItemValueSet>,
         .parameters = {"ITEMPATH", "VALUE"}},
        {.path = "port"},
        {.path = "port add", .run = send_request<control::PortAdd>, .parameters = {"PORTDEV"}},
        {.path = "port remove",
         .run = send_request<control::PortRemove>,
         .parameters = {"PORTDEV"},
         .dry_run = port_remove_dry_run},
        {.path = "port present", .run = port_present, .parameters = {"PORTDEV"}},
        {.path = "port config"},
        {.path = "port config update",
         .run = send_request<control::PortConfigUpdate>,
         .parameters = {"PORTDEV", "PORTCONFIG"}},
        {.path = "port config dump", .run = print_reply<control::PortConfigDump>, .parameters = {"PORTDEV"}},
        {.path = "clear"},
        {.path = "clear statistics", .run = send_request<control::PortChannelClearStats>},
        {.path = "clear statistics port",
         .run = send_request<control::PortChannelMemberClearStats>,
         .parameters = {"PORTDEV"}},
        {.path = "balance", .run = balance_show, .json = true, .same_as = "balance show"},
        {.path = "balance show", .run = balance_show, .json = true},
        {.path = "balance hash",
         .run = balance_hash,
         .parameters = {"PACKET"},
         .optional = "...",
         .max_optional = max_packet_words,
         .check = check_balance_hash,
         .json = true},
        {.path = "balance move",
         .run = balance_move,
         .parameters = {"BUCKET", "PORTDEV"},
         .optional = "[now]",
         .max_optional = 1,
         .check = check_balance_move},
        {.path = "balance freeze", .run = send_request<control::BalanceFreeze, true>},
        {.path = "balance thaw", .run = send_request<control::BalanceFreeze, false>},
        {.path = "offload", .run = offload_show, .json = true, .same_as = "offload show"},
        {.path = "offload show", .run = offload_show, .json = true},
        {.path = "interrupts", .run = interrupts_show, .json = true, .same_as = "interrupts show"},
        {.path = "interrupts show", .run = interrupts_show, .json = true},
        {.path = "interrupts plan", .run = interrupts_plan, .json = true},
        {.path = "interrupts apply", .run = send_request<control::InterruptsManage, true>},
        {.path = "interrupts restore", .run = send_request<control::InterruptsManage, false>},
        {.path = "guard", .run = guard_show, .json = true},
        {.path = "workers", .run = workers_show, .json = true, .same_as = "workers show"},
        {.path = "workers show", .run = workers_show, .json = true},
        {.path = "workers bind",
         .run = workers_bind,
         .parameters = {"PID"},
         .optional = "[follow|spread]",
         .max_optional = 1,
         .check = check_workers_bind},
        {.path = "workers release", .run = workers_release, .parameters = {"PID"}},
        {.path = "workers run",
         .run = workers_run,
         .parameters = {"COMMAND"},
         .optional = "...",
         .max_optional = max_command_words},
        {.path = "workers apply", .run = send_request<control::WorkersManage, true>},
        {.path = "workers restore", .run = send_request<control::WorkersManage, false>},
        {.path = "stats", .run = stats_show, .json = true},
        {.path = "stats live", .run = stats_live, .json = true},
        {.path = "top", .run = top_show, .once = true},
        {.path = "metrics", .run = metrics_show},
        {.path = "doctor", .run = doctor, .json = true, .measure = true},
        {.path = "bench", .run = bench_team, .optional = "[ARGUMENT...]", .max_optional = max_command_words},
    };
    return table;
}

Result<CommandLine> find_command(Arguments words) {
    std::string_view path;
    for (;;) {
        if (words.empty()) return fail(EINVAL, "None or incomplete command");
        const auto* command = find_below(path, words.front());
        if (!command) return fail(EINVAL, fmt::format("Unknown command \"{}\".", words.front()));
        words = words.subspan(1);
        const auto required = command->parameters.size();
        if (command->run && words.size() <= required + command->max_optional) {
            if (words.size() < required)
                return fail(EINVAL, fmt::format("Command line parameter \"{}\" expected.",
                                                command->parameters[words.size()]));
            return CommandLine{command, words};
        }
        path = command->path;
    }
}

Result<const Command*> find_row(Arguments words) {
    const Command* row = nullptr;
    for (const auto& word : words) {
        row = find_below(row ? row->path : "", word);
        if (!row) return fail(EINVAL, fmt::format("Unknown command \"{}\".", fmt::join(words, " ")));
    }
    if (!row) return fail(EINVAL, "None or incomplete command");
    return row;
}

CommandResult send_command(Session& session, const control::Request& request) {
    TEAMO_TRY(session.send(request));
    return {};
}

} // namespace teamo::ctl
