// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "ctl/output.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

enum Status : int { done = 0, refused = 1, bad_usage = 2 };

/// One line, whatever the daemon or an argument had in it.
Status complain(Error error) {
    std::ranges::replace(error.text, '\n', ' ');
    std::fputs((error.text + "\n").c_str(), stderr);
    return refused;
}

/// "team0: port add eth9": of a command that was refused.
std::string title_of(const std::string& team, const Chosen& chosen) {
    const auto title = fmt::format("{}: {}", team, chosen.command->path);
    return chosen.arguments.empty() ? title : fmt::format("{} {}", title, chosen.arguments.front());
}

std::string help(std::string_view program) { return help_on_options(program) + help_on_commands(); }

Status usage(const Error& error, std::string_view program) {
    std::fputs((error.text + "\n" + help(program)).c_str(), stderr);
    return bad_usage;
}

/// What could not be written was not shown: a full disk behind a redirection is a failure.
Status close_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return done;
    return complain({errno, fmt::format("cannot write the output: {}", errno_text(errno))});
}

Status run(int argc, char** argv) {
    const std::string_view program = argc > 0 ? argv[0] : "teamoctl";
    const auto options = read_options(argc, argv);
    if (!options) return usage(options.error(), program);
    if (options->help) {
        put(help(program));
        return close_output();
    }
    if (options->words.empty()) return usage({EINVAL, "No team device specified."}, program);
    const auto& team = options->words.front();
    const auto chosen = find_command(Arguments(options->words).subspan(1));
    if (!chosen) return usage(chosen.error(), program);
    if (options->json && !chosen->command->ours)
        return usage({EINVAL, fmt::format("\"{}\" has no --json.", chosen->command->path)}, program);

    auto session = Session::open(team, *options);
    if (!session) return complain(session.error());
    if (const auto outcome = chosen->command->run(*session, chosen->arguments); !outcome)
        return complain(within(title_of(team, *chosen), outcome.error()).value());
    return close_output();
}

} // namespace
} // namespace teamo::ctl

int main(int argc, char** argv) { return teamo::ctl::run(argc, argv); }
