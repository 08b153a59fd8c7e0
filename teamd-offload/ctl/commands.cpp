// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

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
        {.path = "config dump",
         .run = print_reply<control::ConfigDump>,
         .help = "print the configuration as JSON"},
        {.path = "config dump noports",
         .run = config_dump_noports,
         .help = "print the configuration without ports"},
        {.path = "config dump actual",
         .run = print_reply<control::ConfigDumpActual>,
         .help = "print it with the team's current ports"},
        {.path = "state", .run = state_view, .same_as = "state view"},
        {.path = "state dump", .run = print_reply<control::StateDump>, .help = "print the state as JSON"},
        {.path = "state view", .run = state_view, .help = "print the state as text"},
        {.path = "state item"},
        {.path = "state item get",
         .run = state_item_get,
         .parameters = {"ITEMPATH"},
         .help = "print one item of the state"},
        {.path = "state item set",
         .run = send_request<control::StateItemValueSet>,
         .parameters = {"ITEMPATH", "VALUE"},
         .help = "change one item of the state"},
        {.path = "port"},
        {.path = "port add",
         .run = send_request<control::PortAdd>,
         .parameters = {"PORTDEV"},
         .help = "add a device to the team"},
        {.path = "port remove",
         .run = send_request<control::PortRemove>,
         .parameters = {"PORTDEV"},
         .dry_run = port_remove_dry_run,
         .help = "remove a port from the team"},
        {.path = "port present",
         .run = port_present,
         .parameters = {"PORTDEV"},
         .help = "exit with 0 if PORTDEV is a port"},
        {.path = "port config"},
        {.path = "port config update",
         .run = send_request<control::PortConfigUpdate>,
         .parameters = {"PORTDEV", "PORTCONFIG"},
         .help = "replace the configuration of a port"},
        {.path = "port config dump",
         .run = print_reply<control::PortConfigDump>,
         .parameters = {"PORTDEV"},
         .help = "print the configuration of a port"},
        {.path = "balance", .run = balance_show, .json = true, .same_as = "balance show"},
        {.path = "balance show",
         .run = balance_show,
         .json = true,
         .help = "show buckets, loads and moves by port"},
        {.path = "balance hash",
         .run = balance_hash,
         .parameters = {"PACKET"},
         .optional = "...",
         .max_optional = max_packet_words,
         .check = check_balance_hash,
         .json = true,
         .help = "show which port a packet leaves by"},
        {.path = "balance move",
         .run = balance_move,
         .parameters = {"BUCKET", "PORTDEV"},
         .optional = "[now]",
         .max_optional = 1,
         .check = check_balance_move,
         .help = "move a bucket to another port"},
        {.path = "balance freeze",
         .run = send_request<control::BalanceFreeze, true>,
         .help = "stop moving buckets for their load"},
        {.path = "balance thaw",
         .run = send_request<control::BalanceFreeze, false>,
         .help = "move buckets for their load again"},
        {.path = "offload", .run = offload_show, .json = true, .same_as = "offload show"},
        {.path = "offload show",
         .run = offload_show,
         .json = true,
         .help = "show offloads and what missing ones cost"},
        {.path = "interrupts", .run = interrupts_show, .json = true, .same_as = "interrupts show"},
        {.path = "interrupts show",
         .run = interrupts_show,
         .json = true,
         .help = "show which CPUs serve which port"},
        {.path = "interrupts plan",
         .run = interrupts_plan,
         .json = true,
         .help = "show the planned CPUs, change nothing"},
        {.path = "interrupts apply",
         .run = send_request<control::InterruptsManage, true>,
         .help = "set interrupts to the planned CPUs"},
        {.path = "interrupts restore",
         .run = send_request<control::InterruptsManage, false>,
         .help = "set interrupts back and leave them alone"},
        {.path = "interrupts benchmark",
         .run = interrupts_benchmark,
         .json = true,
         .help = "measure what the planned CPUs gain"},
        {.path = "workers", .run = workers_show, .json = true, .same_as = "workers show"},
        {.path = "workers show",
         .run = workers_show,
         .json = true,
         .help = "show workers and where packets arrive"},
        {.path = "workers bind",
         .run = workers_bind,
         .parameters = {"PID"},
         .optional = "[follow|spread]",
         .max_optional = 1,
         .check = check_workers_bind,
         .help = "make a process a worker"},
        {.path = "workers release",
         .run = workers_release,
         .parameters = {"PID"},
         .help = "set a worker back and leave it alone"},
        {.path = "workers run",
         .run = workers_run,
         .parameters = {"COMMAND"},
         .optional = "...",
         .max_optional = max_command_words,
         .help = "run a command as a worker"},
        {.path = "workers apply",
         .run = send_request<control::WorkersManage, true>,
         .help = "bind the workers again"},
        {.path = "workers restore",
         .run = send_request<control::WorkersManage, false>,
         .help = "set all workers back, leave them alone"},
        {.path = "stats", .run = stats_show, .json = true, .help = "show packet and byte counters by port"},
        {.path = "doctor",
         .run = doctor,
         .json = true,
         .measure = true,
         .help = "report problems and how to fix them"},
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
