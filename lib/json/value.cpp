// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/value.h"

#include <algorithm>
#include <array>

namespace teamo::json {

const Value* Value::find(std::string_view key) const {
    const auto* members = object();
    if (members == nullptr) return nullptr;
    const auto found = std::ranges::find(*members, key, &Member::key);
    return found == members->end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

Value& Value::set(std::string_view key, Value value) {
    if (auto* present = find(key)) return *present = std::move(value);
    if (object() == nullptr) data_ = Object{};
    return object()->emplace_back(Member{std::string(key), std::move(value), {}}).value;
}

bool Value::erase(std::string_view key) {
    auto* members = object();
    return members != nullptr &&
           std::erase_if(*members, [key](const Member& member) { return member.key == key; }) > 0;
}

std::string_view type_of(const Value& value) {
    constexpr std::array names{"null",     "a boolean", "an integer", "a real number",
                               "a string", "an array",  "an object"};
    return names[value.data().index()];
}

} // namespace teamo::json
