// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/usock_message.h"

#include "base/match.h"

#include <algorithm>
#include <array>
#include <utility>

namespace teamo::control {
namespace {

constexpr std::string_view request_line = "REQUEST";
constexpr std::string_view success_line = "REPLY_SUCCESS";
constexpr std::string_view error_line = "REPLY_ERROR";

using Arguments = std::vector<std::string>;

struct Method {
    std::string_view name;
    std::size_t arguments;
    Request (*make)(Arguments&&);
};

/// In the order of Request's alternatives: encode() uses its index.
constexpr std::array methods{
    Method{"PortAdd", 1, [](Arguments&& given) -> Request { return PortAdd{std::move(given[0])}; }},
    Method{"PortRemove", 1, [](Arguments&& given) -> Request { return PortRemove{std::move(given[0])}; }},
    Method{"PortConfigUpdate", 2,
           [](Arguments&& given) -> Request {
               return PortConfigUpdate{std::move(given[0]), std::move(given[1])};
           }},
    Method{"PortConfigDump", 1,
           [](Arguments&& given) -> Request { return PortConfigDump{std::move(given[0])}; }},
    Method{"ConfigDump", 0, [](Arguments&&) -> Request { return ConfigDump{}; }},
    Method{"ConfigDumpActual", 0, [](Arguments&&) -> Request { return ConfigDumpActual{}; }},
    Method{"StateDump", 0, [](Arguments&&) -> Request { return StateDump{}; }},
    Method{"StateItemValueGet", 1,
           [](Arguments&& given) -> Request { return StateItemValueGet{std::move(given[0])}; }},
    Method{"StateItemValueSet", 2,
           [](Arguments&& given) -> Request {
               return StateItemValueSet{std::move(given[0]), std::move(given[1])};
           }},
    Method{"BalanceMove", 3,
           [](Arguments&& given) -> Request {
               return BalanceMove{std::move(given[0]), std::move(given[1]), std::move(given[2])};
           }},
    Method{"BalanceFreeze", 1,
           [](Arguments&& given) -> Request { return BalanceFreeze{std::move(given[0])}; }},
    Method{"OffloadTry", 2,
           [](Arguments&& given) -> Request {
               return OffloadTry{std::move(given[0]), std::move(given[1])};
           }},
    Method{"InterruptsPlan", 0, [](Arguments&&) -> Request { return InterruptsPlan{}; }},
    Method{"InterruptsManage", 1,
           [](Arguments&& given) -> Request { return InterruptsManage{std::move(given[0])}; }},
    Method{"WorkersBind", 2,
           [](Arguments&& given) -> Request {
               return WorkersBind{std::move(given[0]), std::move(given[1])};
           }},
    Method{"WorkersRelease", 1,
           [](Arguments&& given) -> Request { return WorkersRelease{std::move(given[0])}; }},
    Method{"WorkersManage", 1,
           [](Arguments&& given) -> Request { return WorkersManage{std::move(given[0])}; }},
    Method{"ProofTry", 2,
           [](Arguments&& given) -> Request {
               return PauseForBenchmark{std::move(given[0]), std::move(given[1])};
           }},
    Method{"ProofKeep", 6,
           [](Arguments&& given) -> Request {
               return KeepBenchmark{.step = std::move(given[0]),
                                    .bytes_without = std::move(given[1]),
                                    .bytes_with = std::move(given[2]),
                                    .cpu_without = std::move(given[3]),
                                    .cpu_with = std::move(given[4]),
                                    .effect = std::move(given[5])};
           }},
};
static_assert(methods.size() == std::variant_size_v<Request>);

std::vector<std::string_view> arguments_of(const Request& request) {
    using List = std::vector<std::string_view>;
    return std::visit(Match{
                          [](const PortConfigUpdate& update) -> List {
                              return {update.port, update.config};
                          },
                          [](const StateItemValueGet& get) -> List { return {get.path}; },
                          [](const StateItemValueSet& set) -> List {
                              return {set.path, set.value};
                          },
                          [](const BalanceMove& move) -> List {
                              return {move.bucket, move.port, move.when};
                          },
                          [](const BalanceFreeze& freeze) -> List { return {freeze.frozen}; },
                          [](const OffloadTry& trial) -> List {
                              return {trial.port, trial.state};
                          },
                          [](const InterruptsManage& manage) -> List { return {manage.managed}; },
                          [](const WorkersBind& bind) -> List {
                              return {bind.process, bind.policy};
                          },
                          [](const WorkersRelease& release) -> List { return {release.process}; },
                          [](const PauseForBenchmark& trial) -> List {
                              return {trial.step, trial.state};
                          },
                          [](const KeepBenchmark& result) -> List {
                              return {result.step,        result.bytes_without, result.bytes_with,
                                      result.cpu_without, result.cpu_with,      result.effect};
                          },
                          [](const WorkersManage& manage) -> List { return {manage.managed}; },
                          [](const InterruptsPlan&) -> List { return {}; },
                          [](const ConfigDump&) -> List { return {}; },
                          [](const ConfigDumpActual&) -> List { return {}; },
                          [](const StateDump&) -> List { return {}; },
                          [](const auto& about_port) -> List { return {about_port.port}; },
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

Refusal invalid_arguments() {
    return {.code = "InvalidArgs", .message = "Did not receive correct message arguments."};
}

/// Code and message are one line each, and libteamdctl does not accept an empty line.
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
    for (const auto argument : arguments_of(request))
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
