// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/usock_message.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

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
    Parsed (*read)(Arguments&&);
    Arguments (*write)(const Request&);
    bool has_result = false; ///< the reply has a text, not only success
    bool is_internal = false;
    Permission needed = Permission::change;
};

template <class Value>
std::string written(const Value& value) {
    if constexpr (std::is_enum_v<Value>)
        return std::string(name_of(value));
    else
        return fmt::format("{}", value);
}

// read(): sets the value of an argument. Returns what is wrong with it; empty: nothing.

std::string read(std::string& text, std::string& value) {
    value = std::move(text);
    return {};
}
std::string read(const std::string& text, bool& value) {
    value = text == "true";
    return value || text == "false" ? "" : "It is \"true\" or \"false\".";
}
std::string read(const std::string& text, std::uint8_t& bucket) {
    const auto number = whole_number<std::uint8_t>(text);
    bucket = number.value_or(0);
    return number ? "" : text + " is not a bucket: buckets are 0 to 255.";
}
std::string read(const std::string& text, pid_t& process) {
    process = whole_number<pid_t>(text).value_or(0);
    return process > 0 ? "" : text + " is not a process ID.";
}

template <class Word>
std::string read(std::string_view text, Word& value, std::initializer_list<Word> words, std::string wrong) {
    for (const auto word : words)
        if (text == name_of(word)) {
            value = word;
            return {};
        }
    return wrong;
}
std::string read(const std::string& text, MoveTime& time) {
    return read(text, time, {MoveTime::gap, MoveTime::now}, text + ": \"gap\" or \"now\" expected.");
}
std::string read(const std::string& text, TrialState& state) {
    using enum TrialState;
    return read(text, state, {off, on, end}, "A trial is on, off or end.");
}
std::string read(const std::string& text, WorkerPolicy& policy) {
    return read(text, policy, {WorkerPolicy::follow, WorkerPolicy::spread},
                text + ": \"follow\" or \"spread\" expected.");
}
/// A request whose arguments are its members.
template <class Made, auto... members>
constexpr Method method(std::string_view name) {
    return {name, sizeof...(members),
            [](Arguments&& given) -> Parsed {
                Made made;
                std::string wrong;
                [[maybe_unused]] auto next = given.begin();
                if (((wrong = read(*next++, made.*members)).empty() && ...)) return Request{std::move(made)};
                return invalid_arguments(std::move(wrong));
            },
            [](const Request& request) { return Arguments{written(std::get<Made>(request).*members)...}; }};
}

constexpr Method with_result(Method method) {
    method.has_result = true;
    return method;
}

constexpr Method internal(Method method) {
    method.is_internal = true;
    return method;
}

constexpr Method reading(Method method) {
    method.needed = Permission::read;
    return with_result(method);
}

/// In the order of Request's alternatives, so that an index serves both.
constexpr std::array table{
    method<PortAdd, &PortAdd::port>("PortAdd"),
    method<PortRemove, &PortRemove::port>("PortRemove"),
    method<PortConfigUpdate, &PortConfigUpdate::port, &PortConfigUpdate::config>("PortConfigUpdate"),
    reading(method<PortConfigDump, &PortConfigDump::port>("PortConfigDump")),
    reading(method<ConfigDump>("ConfigDump")),
    reading(method<ConfigDumpActual>("ConfigDumpActual")),
    reading(method<StateDump>("StateDump")),
    reading(method<StateItemValueGet, &StateItemValueGet::path>("StateItemValueGet")),
    method<StateItemValueSet, &StateItemValueSet::path, &StateItemValueSet::value>("StateItemValueSet"),
    method<PortChannelClearStats>("PortChannelClearStats"),
    method<PortChannelMemberClearStats, &PortChannelMemberClearStats::port>("PortChannelMemberClearStats"),
    with_result(method<ConfigReload, &ConfigReload::file, &ConfigReload::text, &ConfigReload::dry_run>(
        "ConfigReload")),
    method<DrainPort, &DrainPort::port, &DrainPort::forced>("PortDrain"),
    method<UndrainPort, &UndrainPort::port>("PortUndrain"),
    method<BalanceMove, &BalanceMove::bucket, &BalanceMove::port, &BalanceMove::time>("BalanceMove"),
    method<BalanceFreeze, &BalanceFreeze::frozen>("BalanceFreeze"),
    internal(method<OffloadTry, &OffloadTry::port, &OffloadTry::state>("OffloadTry")),
    reading(method<InterruptsPlan>("InterruptsPlan")),
    method<InterruptsManage, &InterruptsManage::managed>("InterruptsManage"),
    method<WorkersBind, &WorkersBind::process, &WorkersBind::policy>("WorkersBind"),
    method<WorkersRelease, &WorkersRelease::process>("WorkersRelease"),
    method<WorkersManage, &WorkersManage::managed>("WorkersManage"),
    internal(method<HandOver>("HandOver")),
};
static_assert(table.size() == std::variant_size_v<Request>);
/// Those before it are teamd's, which ignores arguments that it does not know.
constexpr const auto* first_of_ours = std::ranges::find(table, "ConfigReload", &Method::name);
constexpr std::size_t most_arguments = std::ranges::max(table, {}, &Method::arguments).arguments;

MethodShape shape_of(const Method& method) {
    return {.name = std::string(method.name),
            .arguments = method.arguments,
            .has_result = method.has_result,
            .is_internal = method.is_internal};
}

/// Removes the first line. The last line needs no newline, as with teamd. None if nothing is left.
std::optional<std::string_view> next_line(std::string_view& rest) {
    return rest.empty() ? std::nullopt : std::optional(take_until(rest, "\n"));
}

std::string escaped(std::string_view argument) {
    std::string text;
    for (const char letter : argument) {
        if (letter == '\n' || letter == '\\') text += '\\';
        text += letter == '\n' ? 'n' : letter;
    }
    return text;
}

std::optional<std::string> unescaped(std::string_view line) {
    std::string text;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const bool escape = line[at] == '\\';
        if (escape) {
            ++at;
            if (at == line.size() || (line[at] != 'n' && line[at] != '\\')) return std::nullopt;
        }
        text += escape && line[at] == 'n' ? '\n' : line[at];
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
    Arguments arguments;
    while (arguments.size() <= most_arguments) {
        const auto line = next_line(rest);
        if (!line) break;
        auto argument = unescaped(*line);
        arguments.push_back(argument ? std::move(*argument) : std::string());
    }
    return make_request(*name, std::move(arguments));
}

std::variant<Request, Refusal> make_request(std::string_view name, Arguments arguments) {
    const auto method = std::ranges::find(table, name, &Method::name);
    if (method == table.end()) return Refusal{.code = "UnknownMethod", .message = "No such method."};
    if (arguments.size() < method->arguments) return invalid_arguments();
    if (arguments.size() > method->arguments && method >= first_of_ours)
        return invalid_arguments(std::string(of_another_version) + ".");
    arguments.resize(method->arguments);
    if (std::ranges::any_of(arguments, &std::string::empty)) return invalid_arguments();
    return method->read(std::move(arguments));
}

std::vector<MethodShape> methods() {
    std::vector<MethodShape> list;
    for (const auto& method : table)
        list.push_back(shape_of(method));
    return list;
}

Permission needed_for(const Request& request) { return table[request.index()].needed; }

std::pair<MethodShape, Arguments> parts_of(const Request& request) {
    const auto& method = table[request.index()];
    return {shape_of(method), method.write(request)};
}

std::string encode(const Reply& reply) {
    if (const auto* payload = std::get_if<std::string>(&reply))
        return fmt::format("{}\n{}", success_line, *payload);
    const auto& refusal = std::get<Refusal>(reply);
    return fmt::format("{}\n{}\n{}\n", error_line, one_line(refusal.code), one_line(refusal.message));
}

std::string encode(const Request& request) {
    const auto [method, arguments] = parts_of(request);
    auto message = fmt::format("{}\n{}\n", request_line, method.name);
    for (const auto& argument : arguments)
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
