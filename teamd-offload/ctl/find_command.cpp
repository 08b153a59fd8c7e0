// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

/// The first row whose path is `above` and one more word that starts with `word`; or nullptr.
const Command* find_below(std::string_view above, std::string_view word) {
    const auto matches = [&](const Command& command) {
        auto rest = command.path;
        if (command.alone != nullptr) return false;
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

/// How many words of the path these begin with; none: other words.
std::optional<std::size_t> matching(const Command& command, Arguments words) {
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

Result<CommandLine> find_command(Arguments words) {
    std::string_view path;
    for (;;) {
        if (words.empty()) return fail(EINVAL, "None or incomplete command");
        const auto* command = find_below(path, words.front());
        if (!command) return fail(EINVAL, fmt::format("Unknown command \"{}\".", words.front()));
        words = words.subspan(1);
        const auto required = command->parameters.size();
        if (command->run && words.size() <= command->most_words()) {
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

bool is_bench(Arguments words) {
    return !words.empty() && words[0] == "bench" && !(words.size() > 1 && find_row(words.subspan(1, 1)));
}

Result<std::optional<CommandLine>> find_teamless(Arguments words) {
    for (const auto& command : commands()) {
        const auto count = command.alone == nullptr ? std::nullopt : matching(command, words);
        if (!count || (command.alone == bench && !is_bench(words))) continue;
        const auto arguments = words.subspan(*count);
        if (arguments.size() >= command.parameters.size() && arguments.size() <= command.most_words())
            return CommandLine{&command, arguments};
        // A team may have the name of a command.
        if (command.most_words() == 0) continue;
        return fail(EINVAL, fmt::format("usage: {}", usage_of(command)));
    }
    return std::nullopt;
}

} // namespace teamo::ctl
