// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/keys.h"

#include "base/match.h"
#include "model/offload.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace teamo::config {
namespace {

constexpr std::string_view offload = "offload", feature = "FEATURE";

} // namespace

std::string_view name_of(Shape shape) {
    using enum Shape;
    switch (shape) {
    case string: return "a string";
    case integer: return "an integer";
    case boolean: return "true or false";
    case object: return "an object";
    case objects: return "an array of objects";
    case strings: return "an array of strings";
    case watches: return "an object or an array of objects";
    case Shape::ports: return "an object";
    }
    return "?";
}

std::string text_of(const Fallback& fallback) {
    return std::visit(Match{
                          [](std::monostate) { return std::string(); },
                          [](bool flag) { return std::string(flag ? "true" : "false"); },
                          [](std::int64_t number) { return fmt::format("{}", number); },
                          [](std::string_view text) {
                              return text.starts_with('[') ? std::string(text) : fmt::format("\"{}\"", text);
                          },
                      },
                      fallback);
}

bool Key::is_used_by(std::string_view user) const {
    return used_by.empty() || std::ranges::find(used_by, user) != used_by.end();
}

std::vector<const Key*> members_of(std::string_view path) {
    std::vector<const Key*> members;
    for (const auto& key : keys())
        if (key.parent() == path) members.push_back(&key);
    return members;
}

const Key* find_key(std::string_view path) {
    const auto found = std::ranges::find(keys(), path, &Key::path);
    return found == keys().end() ? nullptr : &*found;
}

std::vector<std::string_view> member_names(std::string_view path) {
    std::vector<std::string_view> names;
    for (const auto& key : keys())
        if (key.parent() == path && key.name() != feature) names.push_back(key.name());
    if (path == offload) std::ranges::copy(offload_names(), std::back_inserter(names));
    return names;
}

const Key* find_member(std::string_view parent, std::string_view name) {
    if (parent == offload && name != feature && !offloads_named(name).empty())
        return find_key("offload.FEATURE");
    for (const auto& key : keys())
        if (key.parent() == parent && key.name() == name && name != feature) return &key;
    return nullptr;
}

} // namespace teamo::config
