// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/usock_message.h"

#include "base/match.h"
#include "base/whole_number.h"

#include <algorithm>
#include <array>
#include <utility>

namespace teamo::control {
namespace {

constexpr std::string_view request_line = "REQUEST";
constexpr std::string_view success_line = "REPLY_SUCCESS";
constexpr std::string_view error_line = "REPLY_ERROR";

using Arguments = std::vector<std::string>;

Refusal invalid_arguments(std::string message = "Did not receive correct message arguments.") {
    return {.code = "InvalidArgs", .message = std::move(message)};
}

using Parsed = std::variant<Request, Refusal>;

struct Method {
    std::string_view name;
    std::size_t arguments;
    Parsed (*make)(Arguments&&);
};

/// A request whose arguments are all texts.
template <class Made, std::size_t... index>
Parsed make_of_texts(Arguments&& given, std::index_sequence<index...> /*indices*/) {
    return Request{Made{std::move(given[index])...}};
}

template <class Made, std::size_t count>
constexpr Method of_texts(std::string_view name) {
    return {name, count, [](Arguments&& given) -> Parsed {
                return make_of_texts<Made>(std::move(given), std::make_index_sequence<count>{});
            }};
}

std::optional<bool> boolean(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
}

template <class Word>
std::optional<Word> word(std::string_view text, std::initializer_list<Word> words) {
    const auto found =
        std::ranges::find(words, text, [](Word one) { return std::string_view(name_of(one)); });
    return found == words.end() ? std::nullopt : std::optional(*found);
}

std::optional<TrialState> trial_state(std::string_view text) {
    return word(text, {TrialState::off, TrialState::on, TrialState::end});
}

std::optional<BenchmarkStep> benchmark_step(std::string_view text) {
    return word(text, {BenchmarkStep::interrupts, BenchmarkStep::workers});
}

std::optional<pid_t> process_number(std::string_view text) {
    const auto pid = whole_number<pid_t>(text);
    return pid && *pid > 0 ? pid : std::nullopt;
}

template <class Made, bool Made::*flag>
constexpr Method of_flag(std::string_view name) {
    return {name, 1, [](Arguments&& given) -> Parsed {
                const auto on = boolean(given[0]);
                if (!on) return invalid_arguments("It is \"true\" or \"false\".");
                Made made;
                made.*flag = *on;
                return Request{made};
            }};
}

Parsed balance_move(Arguments&& given) {
    const auto bucket = whole_number<std::uint8_t>(given[0]);
    if (!bucket) return invalid_arguments(given[0] + " is no bucket; buckets are 0 to 255.");
    if (given[2] != "gap" && given[2] != "now")
        return invalid_arguments(given[2] + " is no time; it is \"gap\" or \"now\".");
    return Request{BalanceMove{.bucket = *bucket, .port = std::move(given[1]), .now = given[2] == "now"}};
}

Parsed offload_try(Arguments&& given) {
    const auto state = trial_state(given[1]);
    if (!state) return invalid_arguments("A trial is on, off or end.");
    return Request{OffloadTry{.port = std::move(given[0]), .state = *state}};
}

Parsed workers_bind(Arguments&& given) {
    const auto process = process_number(given[0]);
    if (!process) return invalid_arguments(given[0] + " is no process number.");
    const auto policy = word(given[1], {WorkerPolicy::follow, WorkerPolicy::spread});
    if (!policy) return invalid_arguments(given[1] + " is no policy; it is \"follow\" or \"spread\".");
    return Request{WorkersBind{.process = *process, .policy = *policy}};
}

Parsed workers_release(Arguments&& given) {
    const auto process = process_number(given[0]);
    if (!process) return invalid_arguments(given[0] + " is no process number.");
    return Request{WorkersRelease{.process = *process}};
}

Parsed benchmark_try(Arguments&& given) {
    const auto step = benchmark_step(given[0]);
    if (!step) return invalid_arguments("The steps of a benchmark are interrupts and workers.");
    const auto state = trial_state(given[1]);
    if (!state) return invalid_arguments("A trial is on, off or end.");
    return Request{BenchmarkTry{.step = *step, .state = *state}};
}

Parsed benchmark_keep(Arguments&& given) {
    const auto step = benchmark_step(given[0]);
    const auto effect = word(given[5], {BenchmarkEffect::unclear, BenchmarkEffect::none,
                                        BenchmarkEffect::gain, BenchmarkEffect::loss});
    if (!step || !effect) return invalid_arguments();
    BenchmarkResult result{.effect = *effect};
    std::size_t number = 1;
    for (auto* figure : {&result.bytes_without, &result.bytes_with, &result.cpu_without, &result.cpu_with}) {
        const auto read = whole_number<std::uint64_t>(given[number++]);
        if (!read || *read > INT64_MAX) return invalid_arguments();
        *figure = *read;
    }
    return Request{BenchmarkKeep{.step = *step, .result = result}};
}

/// In the order of Request's alternatives, so that an index serves both.
constexpr std::array methods{
    of_texts<PortAdd, 1>("PortAdd"),
    of_texts<PortRemove, 1>("PortRemove"),
    of_texts<PortConfigUpdate, 2>("PortConfigUpdate"),
    of_texts<PortConfigDump, 1>("PortConfigDump"),
    of_texts<ConfigDump, 0>("ConfigDump"),
    of_texts<ConfigDumpActual, 0>("ConfigDumpActual"),
    of_texts<StateDump, 0>("StateDump"),
    of_texts<StateItemValueGet, 1>("StateItemValueGet"),
    of_texts<StateItemValueSet, 2>("StateItemValueSet"),
    Method{"BalanceMove", 3, balance_move},
    of_flag<BalanceFreeze, &BalanceFreeze::frozen>("BalanceFreeze"),
    Method{"OffloadTry", 2, offload_try},
    of_texts<InterruptsPlan, 0>("InterruptsPlan"),
    of_flag<InterruptsManage, &InterruptsManage::managed>("InterruptsManage"),
    Method{"WorkersBind", 2, workers_bind},
    Method{"WorkersRelease", 1, workers_release},
    of_flag<WorkersManage, &WorkersManage::managed>("WorkersManage"),
    Method{"BenchmarkTry", 2, benchmark_try},
    Method{"BenchmarkKeep", 6, benchmark_keep},
};
static_assert(methods.size() == std::variant_size_v<Request>);

std::string text_of(bool flag) { return flag ? "true" : "false"; }

Arguments arguments_of(const Request& request) {
    using std::to_string;
    return std::visit(
        Match{
            [](const PortConfigUpdate& update) -> Arguments {
                return {update.port, update.config};
            },
            [](const StateItemValueGet& get) -> Arguments { return {get.path}; },
            [](const StateItemValueSet& set) -> Arguments {
                return {set.path, set.value};
            },
            [](const BalanceMove& move) -> Arguments {
                return {to_string(move.bucket), move.port, move.now ? "now" : "gap"};
            },
            [](const BalanceFreeze& freeze) -> Arguments { return {text_of(freeze.frozen)}; },
            [](const OffloadTry& trial) -> Arguments {
                return {trial.port, name_of(trial.state)};
            },
            [](const InterruptsManage& manage) -> Arguments { return {text_of(manage.managed)}; },
            [](const WorkersBind& bind) -> Arguments {
                return {to_string(bind.process), name_of(bind.policy)};
            },
            [](const WorkersRelease& release) -> Arguments { return {to_string(release.process)}; },
            [](const WorkersManage& manage) -> Arguments { return {text_of(manage.managed)}; },
            [](const BenchmarkTry& trial) -> Arguments {
                return {name_of(trial.step), name_of(trial.state)};
            },
            [](const BenchmarkKeep& keep) -> Arguments {
                const auto& result = keep.result;
                return {name_of(keep.step),           to_string(result.bytes_without),
                        to_string(result.bytes_with), to_string(result.cpu_without),
                        to_string(result.cpu_with),   name_of(result.effect)};
            },
            [](const InterruptsPlan&) -> Arguments { return {}; },
            [](const ConfigDump&) -> Arguments { return {}; },
            [](const ConfigDumpActual&) -> Arguments { return {}; },
            [](const StateDump&) -> Arguments { return {}; },
            [](const auto& about_port) -> Arguments { return {about_port.port}; },
        },
        request);
}

/// Removes the first line. The last line needs no newline, as with teamd. None if nothing is left.
std::optional<std::string_view> next_line(std::string_view& rest) {
    if (rest.empty()) return std::nullopt;
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
}

std::string escaped(std::string_view argument) {
    std::string text;
    text.reserve(argument.size());
    for (const char letter : argument) {
        if (letter == '\n')
            text += "\\n";
        else if (letter == '\\')
            text += "\\\\";
        else
            text += letter;
    }
    return text;
}

std::optional<std::string> unescaped(std::string_view line) {
    std::string text;
    text.reserve(line.size());
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] != '\\') {
            text += line[at];
            continue;
        }
        if (++at == line.size()) return std::nullopt;
        if (line[at] != 'n' && line[at] != '\\') return std::nullopt;
        text += line[at] == 'n' ? '\n' : '\\';
    }
    return text;
}

/// One line: code and message are read by lines, and an empty one is no line for libteamdctl.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text.empty() ? " " : text;
}

} // namespace

std::variant<Request, Refusal> parse_request(std::string_view message) {
    if (message.size() > longest_request) return invalid_arguments();
    // teamd reads a C string, so clients may send the terminating NUL.
    auto rest = message.substr(0, message.find('\0'));
    if (next_line(rest) != request_line) return invalid_arguments();
    const auto name = next_line(rest);
    if (!name) return invalid_arguments();
    const auto method = std::ranges::find(methods, *name, &Method::name);
    if (method == methods.end()) return Refusal{.code = "UnknownMethod", .message = "No such method."};

    Arguments arguments;
    while (arguments.size() < method->arguments) {
        const auto line = next_line(rest);
        if (!line || line->empty()) return invalid_arguments();
        auto argument = unescaped(*line);
        if (!argument) return invalid_arguments();
        arguments.push_back(std::move(*argument));
    }
    return method->make(std::move(arguments));
}

std::string encode(const Reply& reply) {
    return std::visit(
        Match{
            [](const std::string& payload) { return std::string(success_line).append("\n").append(payload); },
            [](const Refusal& refusal) {
                return std::string(error_line)
                    .append("\n")
                    .append(one_line(refusal.code))
                    .append("\n")
                    .append(one_line(refusal.message))
                    .append("\n");
            },
        },
        reply);
}

std::string encode(const Request& request) {
    std::string message(request_line);
    message.append("\n").append(methods[request.index()].name).append("\n");
    for (const auto& argument : arguments_of(request))
        message.append(escaped(argument)).append("\n");
    return message;
}

std::optional<Reply> parse_reply(std::string_view message) {
    auto rest = message;
    const auto kind = next_line(rest);
    if (kind == success_line) {
        // teamd always sends the newline: without it the reply was cut.
        if (message.size() == success_line.size()) return std::nullopt;
        return Reply{std::string(rest)};
    }
    if (kind != error_line) return std::nullopt;
    const auto code = next_line(rest);
    const auto text = next_line(rest);
    if (!code || !text) return std::nullopt;
    return Reply{Refusal{.code = std::string(*code), .message = std::string(*text)}};
}

} // namespace teamo::control
