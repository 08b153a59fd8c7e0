// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include <array>

namespace teamo::ctl {
namespace {

constexpr std::size_t any_number = 4096;

constexpr auto teamless_table = std::to_array<TeamlessCommand>({
    {.path = "import bond",
     .parameters = "IFACE",
     .least = 1,
     .most = 1,
     .run = import_bond,
     .summary = "print a bond as a configuration",
     .text = R"(Prints the configuration of a team that does what a running bond does. Options
without a counterpart are named on standard error.)"},
    {.path = "import teamd",
     .parameters = "[FILE...]",
     .most = any_number,
     .run = import_teamd,
     .summary = "check configurations of teamd",
     .text = R"(Reads JSON files of teamd as teamd-offload would, and reports what each team is
here and what is wrong. Without FILE it reads those in /etc/teamd, and what the
teams run with now. Exits with 1 if one of them would not start.)"},
    {.path = "replace",
     .parameters = "BOND [TEAM [FILE]]",
     .least = 1,
     .most = 3,
     .run = replace_bond,
     .summary = "put a team in the place of a bond",
     .text = R"(Puts a team in the place of a bond that is in use, without a pause in its
traffic: a part of the ports moves, then addresses and routes, then the other
ports. TEAM is the first free "teamN" without a configuration if it is not
given. The configuration is /etc/teamd-offload/TEAM.conf or FILE, made from the
bond if the file is not there; the MAC address of the bond is added. With FILE
the daemon is not started by systemd. If a step fails before the bond is
removed, the bond is as before.)"},
    {.path = "bench",
     .parameters = "[ARGUMENT...]",
     .most = any_number,
     .run = bench,
     .summary = "measure a team in namespaces",
     .text = R"(Starts the program teamo-bench of the package teamd-offload-bench with these
arguments: "teamoctl bench --help" shows them.)"},
    {.path = "metrics",
     .parameters = "",
     .run = metrics_of_all_teams,
     .summary = "print metrics of all teams",
     .text = R"(Prints the metrics of all teams with a daemon, as "metrics" does for one.)"},
});

/// How many words of the path these begin with; none: other words.
std::optional<std::size_t> matching(const TeamlessCommand& command, Arguments words) {
    auto path = command.path;
    std::size_t count = 0;
    for (;;) {
        const auto end = path.find(' ');
        if (count == words.size() || words[count] != path.substr(0, end)) return std::nullopt;
        ++count;
        if (end == std::string_view::npos) return count;
        path.remove_prefix(end + 1);
    }
}

} // namespace

std::span<const TeamlessCommand> teamless_commands() { return teamless_table; }

bool is_bench(Arguments words) {
    return !words.empty() && words[0] == "bench" && !(words.size() > 1 && find_row(words.subspan(1, 1)));
}

Result<std::optional<std::pair<const TeamlessCommand*, Arguments>>> find_teamless(Arguments words) {
    for (const auto& command : teamless_table) {
        const auto count = matching(command, words);
        if (!count || (command.run == bench && !is_bench(words))) continue;
        const auto arguments = words.subspan(*count);
        if (arguments.size() >= command.least && arguments.size() <= command.most)
            return std::pair(&command, arguments);
        // A team may have the name of a command.
        if (command.most == 0) continue;
        return fail(EINVAL, fmt::format("usage: {} {}", command.path, command.parameters));
    }
    return std::nullopt;
}

} // namespace teamo::ctl
