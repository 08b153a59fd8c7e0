// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/difference.h"

#include "config/steps.h"
#include "json/quote.h"
#include "json/write.h"

namespace teamo {
namespace {

void compare(const std::string& pointer, const json::Value& from, const json::Value& to,
             std::vector<Difference>& list) {
    if (from == to) return;
    const auto *before = from.object(), *after = to.object();
    if (before == nullptr || after == nullptr) return list.push_back({pointer, from, to});
    const auto at = [&](const json::Member& member) {
        return config::Where{pointer, {}}.member(member.key, {}).pointer;
    };
    for (const auto& member : *before)
        if (const auto* other = to.find(member.key))
            compare(at(member), member.value, *other, list);
        else
            list.push_back({at(member), member.value, std::nullopt});
    for (const auto& member : *after)
        if (from.find(member.key) == nullptr) list.push_back({at(member), std::nullopt, member.value});
}

std::string in_one_line(const json::Value& value) {
    return json::printable(json::write(value, {.indent = 0}));
}

} // namespace

std::vector<Difference> differences(const json::Value& from, const json::Value& to) {
    std::vector<Difference> list;
    compare("", from, to, list);
    return list;
}

std::string text_of(const Difference& difference) {
    const auto& [raw, from, to] = difference;
    const auto pointer =
        json::printable(raw); // a key may have control characters, and this goes to terminals
    if (!to) return fmt::format("{}: removed", pointer);
    if (!from) return fmt::format("{}: added {}", pointer, in_one_line(*to));
    return fmt::format("{}: {} -> {}", pointer, in_one_line(*from), in_one_line(*to));
}

} // namespace teamo
