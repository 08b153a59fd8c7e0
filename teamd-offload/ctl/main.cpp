// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/whole_number.h"
#include "ctl/commands.h"

#include <getopt.h>

#include <algorithm>
#include <array>

namespace teamo::ctl {
namespace {

// Above all character codes: these options have no letter.
constexpr int json_option = 256, measure_option = 257, once_option = 258, force_option = 259;

constexpr std::array long_options{
    option{"help", no_argument, nullptr, 'h'},
    option{"verbose", no_argument, nullptr, 'v'},
    option{"oneline", no_argument, nullptr, 'o'},
    option{"force-dbus", no_argument, nullptr, 'D'},
    option{"force-zmq", required_argument, nullptr, 'Z'},
    option{"force-usock", no_argument, nullptr, 'U'},
    option{"json", no_argument, nullptr, json_option},
    option{"dry-run", no_argument, nullptr, 'n'},
    option{"once", no_argument, nullptr, once_option},
    option{"force", no_argument, nullptr, force_option},
    option{"timeout", required_argument, nullptr, 't'},
    option{"measure", required_argument, nullptr, measure_option},
    option{nullptr, 0, nullptr, 0},
};

/// The arguments before those of another program, which has options of its own: `[TEAM] bench …`.
int own_arguments(int argc, char** argv) {
    std::vector<std::string> words;
    for (int index = 1; index < argc && words.size() < 2; ++index) {
        if (argv[index][0] == '-') continue;
        words.emplace_back(argv[index]);
        const bool is_teams = words.size() == 2 && words[1] == "bench";
        if (words[0] == "bench" && index + 1 < argc) words.emplace_back(argv[index + 1]);
        if (is_teams || is_bench(words)) return index + 1;
    }
    return argc;
}

/// getopt_long() reports a refused letter in optopt, but not a refused long option.
std::string refused_option(char** argv) {
    const bool is_letter = optopt > 0 && optopt < json_option;
    return is_letter ? fmt::format("-{}", static_cast<char>(optopt)) : std::string(argv[optind - 1]);
}

Result<std::chrono::seconds> read_seconds(std::string_view text) {
    const auto number = whole_number<std::uint16_t>(text);
    if (!number || *number == 0)
        return fail(EINVAL, fmt::format("\"{}\" is no time limit: 1 to 65535 seconds.", text));
    return std::chrono::seconds(*number);
}

/// Options may stand anywhere among the words (getopt_long(3)), as with teamdctl. An error is bad usage.
Result<Options> read_options(int argc, char** argv) {
    Options options;
    opterr = 0; // our caller prints the error, in one line
    const int own = own_arguments(argc, argv);
    for (int letter = 0;
         (letter = getopt_long(own, argv, "hvoDZ:Unt:", long_options.data(), nullptr)) >= 0;) {
        switch (letter) {
        case 'h': options.help = true; return options; // as teamdctl: the rest is ignored
        case 'v': ++options.verbosity; break;
        case 'o': options.oneline = true; break;
        case 'D': options.dbus = true; break;
        case 'Z': options.zmq = true; break;
        case 'U': options.usock = true; break;
        case json_option: options.json = true; break;
        case 'n': options.dry_run = true; break;
        case once_option: options.once = true; break;
        case force_option: options.force = true; break;
        case 't': options.timeout = TEAMO_TRY(read_seconds(optarg)); break;
        case measure_option: options.measure = optarg; break;
        default:
            return fail(EINVAL, fmt::format("unknown or incomplete option \"{}\".", refused_option(argv)));
        }
    }
    if (options.usock + options.dbus + options.zmq > 1)
        return fail(EINVAL, "Only one interface could be forced at a time (UNIX domain socket, D-Bus, ZMQ).");
    options.words.assign(argv + optind, argv + argc);
    return options;
}

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

/// `help`: the words that show more.
ExitStatus print_usage(const Error& error, std::string_view program, std::string_view help = "--help") {
    std::fputs(fmt::format("{}\nSee: {} {}\n", error.text, program, help).c_str(), stderr);
    return ExitStatus::bad_usage;
}

/// Output that could not be written is a failure, for example a redirection to a full disk.
ExitStatus close_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return ExitStatus::success;
    return print_error({errno, fmt::format("cannot write the output: {}", errno_text(errno))});
}

/// Refuses options that the command does not have.
Result<> check_options(const Command& command, const Options& options) {
    const auto has_no = [&](std::string_view option) {
        return fail(EINVAL, fmt::format("The command \"{}\" has no option {}.", command.path, option));
    };
    if (options.dry_run && !command.dry_run) return has_no("--dry-run");
    if (options.json && !command.json && !options.dry_run) return has_no("--json");
    if (options.measure && !command.measure) return has_no("--measure");
    if (options.once && !command.once) return has_no("--once");
    if (options.force && !command.drains) return has_no("--force");
    if (options.timeout && !command.drains) return has_no("--timeout");
    return {};
}

/// Also arguments that are wrong for every team.
Result<> check(const CommandLine& line, const Options& options) {
    TEAMO_TRY(check_options(*line.command, options));
    return line.command->check ? line.command->check(line.arguments) : Result<>{};
}

ExitStatus print_help(const Result<std::string>& text, std::string_view program) {
    if (!text) return print_usage(text.error(), program);
    put(*text);
    return close_output();
}

/// The words before --help: `teamoctl bench --help`, `teamoctl team0 port add --help`.
std::string help_for(std::string_view program, std::span<char* const> argv) {
    std::vector<std::string> words;
    for (const std::string_view word : argv) {
        if (word == "-h" || word == "--help") break;
        if (!word.starts_with('-')) words.emplace_back(word);
    }
    for (std::size_t skipped = 0; skipped < std::min<std::size_t>(words.size(), 2); ++skipped) // 1: the team
        if (auto text = help_on(program, Arguments(words).subspan(skipped)); text) return *text;
    return help_text(program);
}

/// `title`: the beginning of an error message.
ExitStatus end(const CommandResult& result, std::string_view title) {
    const auto written = close_output();
    if (!result) return print_error(within(title, result.error()).value());
    return *result == ExitStatus::success ? written : *result;
}

ExitStatus run_command(const CommandLine& line, const std::string& team, Options options) {
    const auto title = title_of(team, line);
    Waits waits(title);
    options.waits = &waits;
    options.waiting = line.command->waiting;
    auto session = Session::open(team, options);
    if (!session) return print_error(session.error());
    const auto run = options.dry_run ? line.command->dry_run : line.command->run;
    return end(run(*session, line.arguments), title);
}

ExitStatus run_alone(const CommandLine& line, Options options) {
    Waits waits{std::string(line.command->path)};
    options.waits = &waits;
    return end(line.command->alone(options, line.arguments), line.command->path);
}

ExitStatus run(int argc, char** argv) {
    const std::string_view program = argc > 0 ? argv[0] : "teamoctl";
    // Not among the options: --ver is an abbreviation of --verbose, as with teamdctl.
    if (argc == 2 && std::string_view(argv[1]) == "--version") return print_help(version_text(), program);
    const auto options = read_options(argc, argv);
    if (!options) return print_usage(options.error(), program);
    if (options->help)
        return print_help(help_for(program, {argv + 1, static_cast<std::size_t>(argc - 1)}), program);
    if (argc == 1) {
        Waits waits{std::string(program)};
        auto alone = *options;
        alone.waits = &waits;
        return end(overview(alone, {}), program);
    }
    if (options->words.empty()) {
        std::fputs(("No team device specified.\n" + help_text(program)).c_str(), stderr); // as teamdctl
        return ExitStatus::bad_usage;
    }
    const auto& team = options->words.front();
    const auto words = Arguments(options->words).subspan(1);
    if (team == "help") return print_help(help_on(program, words), program);
    const auto teamless = find_teamless(options->words);
    if (!teamless) return print_usage(teamless.error(), program);
    if (*teamless) {
        const auto& line = **teamless;
        if (auto checked = check_options(*line.command, *options); !checked)
            return print_usage(checked.error(), program, fmt::format("help {}", line.command->path));
        return run_alone(line, *options);
    }
    const auto line = find_command(words);
    if (!line) return print_usage(line.error(), program);
    if (auto checked = check(*line, *options); !checked)
        return print_usage(checked.error(), program, fmt::format("help {}", line->command->path));
    return run_command(*line, team, *options);
}

} // namespace
} // namespace teamo::ctl

int main(int argc, char** argv) { return static_cast<int>(teamo::ctl::run(argc, argv)); }
