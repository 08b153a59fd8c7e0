// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include "version.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

constexpr std::size_t indent = 4, help_column = 39;

/// Two columns. A command that is too long for its column has its help on the next line.
std::string table_line(const std::string& usage, std::string_view help) {
    if (indent + usage.size() + 1 > help_column)
        return fmt::format("{:{}}{}\n{:{}}{}\n", "", indent, usage, "", help_column, help);
    return fmt::format("{:{}}{:<{}}{}\n", "", indent, usage, help_column - indent, help);
}

std::string table_line(const Command& command) {
    return table_line(usage_of(command), command.same_as.empty()
                                             ? std::string(command.summary)
                                             : fmt::format("same as \"{}\"", command.same_as));
}

/// The commands without a team that begin with these words.
std::string help_on_teamless(std::string_view program, Arguments words) {
    const auto wanted = fmt::format("{}", fmt::join(words, " "));
    std::string text;
    for (const auto& command : commands())
        if (command.alone != nullptr && command.most_words() > 0 &&
            (command.path == wanted || command.path.starts_with(wanted + " ")))
            text += fmt::format("{}usage: {} {}\n\n{}\n", text.empty() ? "" : "\n", program,
                                usage_of(command), command.text);
    return text;
}

/// The commands below `path`, or all of them; `alone`: those without a team.
std::string table_of_commands(std::string_view path, bool alone = false) {
    std::string text;
    for (const auto& command : commands())
        if ((alone ? command.alone != nullptr : command.run != nullptr) &&
            (path.empty() || command.path.starts_with(fmt::format("{} ", path))))
            text += table_line(command);
    return text;
}

/// The row that describes it.
const Command& described(const Command& command) {
    return command.same_as.empty() ? command
                                   : *std::ranges::find(commands(), command.same_as, &Command::path);
}

std::string options_of(const Command& command) {
    std::string text;
    if (command.json) text += "[--json] ";
    if (command.dry_run != nullptr) text += "[--dry-run [--json]] ";
    if (command.measure) text += "[--measure=PORTDEV] ";
    if (command.once) text += "[--once] ";
    if (command.drains) text += "[--force] [--timeout=SECONDS] ";
    return text;
}

} // namespace

std::string usage_of(const Command& command) {
    std::string text(command.path);
    for (const auto parameter : command.parameters)
        text += fmt::format(" {}", parameter);
    if (!command.optional.empty()) text += fmt::format(" {}", command.optional);
    return text;
}

std::string version_text() { return fmt::format("teamoctl {}\n", program_version); }

std::string help_text(std::string_view program) {
    return fmt::format("{0} [options] teamdevname command [command args]\n"
                       "    -h --help                Show this help\n"
                       "       --version             Show the version\n"
                       "    -v --verbose             Increase output verbosity\n"
                       "    -o --oneline             Force output to one line if possible\n"
                       "    -D --force-dbus          Force to use D-Bus interface\n"
                       "    -Z --force-zmq=ADDRESS   Refused: there is no ZeroMQ interface\n"
                       "    -U --force-usock         Force to use UNIX domain socket interface\n"
                       "       --json                Print JSON (not with the commands of teamdctl)\n"
                       "    -n --dry-run             Show the effect, change nothing\n"
                       "       --once                Print one reading and end (top)\n"
                       "       --force               Also the last port that carries (port drain)\n"
                       "    -t --timeout=SECONDS     How long to wait (port drain)\n"
                       "       --measure=PORTDEV     Measure this port with and without TSO (doctor)\n"
                       "Commands:\n{1}"
                       "Commands without a team device:\n{2}"
                       "Each word of a command of a team may be abbreviated, except \"bench\". The\n"
                       "commands without a team must be written in full.\n"
                       "More on one command, without a team:\n"
                       "    {0} help COMMAND\n"
                       "What is on this machine, and how to start:\n"
                       "    {0}\n",
                       program, table_of_commands(""), table_of_commands("", /*alone=*/true));
}

Result<std::string> help_on(std::string_view program, Arguments words) {
    if (words.empty()) return help_text(program);
    auto text = help_on_teamless(program, words);
    const auto row = find_row(words);
    if (!row && !text.empty()) return text;
    if (!row) return tl::unexpected(row.error());
    const auto& command = **row;
    // A command with a team and without one: only if it is the same word, so not an abbreviation.
    if (!text.empty() && command.path != words.front()) return text;
    if (command.run != nullptr)
        text += fmt::format("{}usage: {} {}teamdevname {}\n\n{}\n", text.empty() ? "" : "\n", program,
                            options_of(command), usage_of(command), described(command).text);
    if (const auto below = table_of_commands(command.path); !below.empty())
        text += fmt::format("{}Commands of \"{}\":\n{}", text.empty() ? "" : "\n", command.path, below);
    return text;
}

} // namespace teamo::ctl
