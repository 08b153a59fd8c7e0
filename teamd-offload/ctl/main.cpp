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
    const bool has_object = !chosen.arguments.empty() && chosen.command->more == 0;
    return has_object ? fmt::format("{} {}", title, chosen.arguments.front()) : title;
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

/// Options that the command does not have, and what can be said of its arguments without asking anybody.
Result<> check(const Chosen& chosen, const Options& options) {
    const auto& command = *chosen.command;
    const auto has_no = [&](const char* option) {
        return fail(EINVAL, fmt::format("\"{}\" has no {}.", command.path, option));
    };
    if (options.dry_run && !command.rehearse) return has_no("--dry-run");
    if (options.json && !command.json && !options.dry_run) return has_no("--json");
    if (options.measure && !command.measure) return has_no("--measure");
    return command.check ? command.check(chosen.arguments) : Result<>{};
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
    if (auto fits = check(*chosen, *options); !fits) return usage(fits.error(), program);

    auto session = Session::open(team, *options);
    if (!session) return complain(session.error());
    const auto run_it = options->dry_run ? chosen->command->rehearse : chosen->command->run;
    const auto outcome = run_it(*session, chosen->arguments);
    const auto written = close_output();
    if (outcome) return written;
    if (outcome.error().text.empty()) return refused;
    return complain(within(title_of(team, *chosen), outcome.error()).value());
}

} // namespace
} // namespace teamo::ctl

int main(int argc, char** argv) { return teamo::ctl::run(argc, argv); }
