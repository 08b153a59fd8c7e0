// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/help.h"
#include "ctl/output.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

/// Prints one line, also if the text of the daemon or an argument has line breaks.
ExitStatus print_error(Error error) {
    std::ranges::replace(error.text, '\n', ' ');
    std::fputs((error.text + "\n").c_str(), stderr);
    return ExitStatus::failure;
}

/// "team0: port add eth9": the beginning of an error message.
std::string title_of(const std::string& team, const CommandLine& line) {
    const auto title = fmt::format("{}: {}", team, line.command->path);
    const bool has_object = !line.arguments.empty() && line.command->max_optional == 0;
    return has_object ? fmt::format("{} {}", title, line.arguments.front()) : title;
}

ExitStatus print_usage(const Error& error, std::string_view program) {
    std::fputs((error.text + "\n" + help_text(program)).c_str(), stderr);
    return ExitStatus::bad_usage;
}

/// Output that could not be written is a failure, for example a redirection to a full disk.
ExitStatus close_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return ExitStatus::success;
    return print_error({errno, fmt::format("cannot write the output: {}", errno_text(errno))});
}

/// Refuses options that the command does not have, and arguments that are wrong for every team.
Result<> check(const CommandLine& line, const Options& options) {
    const auto& command = *line.command;
    const auto has_no = [&](const char* option) {
        return fail(EINVAL, fmt::format("The command \"{}\" has no option {}.", command.path, option));
    };
    if (options.dry_run && !command.dry_run) return has_no("--dry-run");
    if (options.json && !command.json && !options.dry_run) return has_no("--json");
    if (options.measure && !command.measure) return has_no("--measure");
    return command.check ? command.check(line.arguments) : Result<>{};
}

/// `teamoctl help COMMAND`: needs no team and no daemon.
ExitStatus print_help_on(Arguments words, std::string_view program) {
    const auto text = help_on(program, words);
    if (!text) return print_usage(text.error(), program);
    put(*text);
    return close_output();
}

ExitStatus run_command(const CommandLine& line, const std::string& team, const Options& options) {
    auto session = Session::open(team, options);
    if (!session) return print_error(session.error());
    const auto run = options.dry_run ? line.command->dry_run : line.command->run;
    const auto result = run(*session, line.arguments);
    const auto written = close_output();
    if (!result) return print_error(within(title_of(team, line), result.error()).value());
    return *result == ExitStatus::success ? written : *result;
}

ExitStatus run(int argc, char** argv) {
    const std::string_view program = argc > 0 ? argv[0] : "teamoctl";
    const auto options = read_options(argc, argv);
    if (!options) return print_usage(options.error(), program);
    if (options->help) {
        put(help_text(program));
        return close_output();
    }
    if (options->words.empty()) return print_usage({EINVAL, "No team device specified."}, program);
    const auto& team = options->words.front();
    const auto words = Arguments(options->words).subspan(1);
    if (team == "help") return print_help_on(words, program);
    const auto line = find_command(words);
    if (!line) return print_usage(line.error(), program);
    if (auto checked = check(*line, *options); !checked) return print_usage(checked.error(), program);
    return run_command(*line, team, *options);
}

} // namespace
} // namespace teamo::ctl

int main(int argc, char** argv) { return static_cast<int>(teamo::ctl::run(argc, argv)); }
