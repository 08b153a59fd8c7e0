// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/state_document.h"

#include "base/match.h"

namespace teamo::control {
namespace {

/// The position of the closing quote of a name that starts at 0: the first quote before a dot or the end, so
/// that a quote within a device's name needs no escape.
std::size_t closing_quote(std::string_view rest) {
    auto quote = rest.find('"', 1);
    while (quote != std::string_view::npos && quote + 1 < rest.size() && rest[quote + 1] != '.')
        quote = rest.find('"', quote + 1);
    return quote;
}

} // namespace

std::optional<std::vector<std::string>> split_item_path(std::string_view path) {
    std::vector<std::string> names;
    for (auto rest = path;;) {
        const bool quoted = rest.starts_with('"');
        const auto end = quoted ? closing_quote(rest) : rest.find('.');
        if (quoted && end == std::string_view::npos) return std::nullopt;
        const auto name = quoted ? rest.substr(1, end - 1) : rest.substr(0, end);
        if (name.empty()) return std::nullopt;
        names.emplace_back(name);
        const auto taken = name.size() + (quoted ? 2 : 0);
        if (taken == rest.size()) return names;
        rest.remove_prefix(taken + 1); // and the dot; a dot at the end leaves an empty name
    }
}

std::optional<std::string> state_item(const json::Value& document, std::string_view path) {
    const auto names = split_item_path(path);
    if (!names) return std::nullopt;
    const auto* item = &document;
    for (const auto& name : *names)
        if (item = item->find(name); !item) return std::nullopt;
    return std::visit(
        Match{
            [](bool value) -> std::optional<std::string> { return value ? "true" : "false"; },
            [](std::int64_t value) -> std::optional<std::string> { return std::to_string(value); },
            [](const std::string& value) -> std::optional<std::string> { return value; },
            [](const auto&) -> std::optional<std::string> { return std::nullopt; },
        },
        item->data());
}

} // namespace teamo::control
